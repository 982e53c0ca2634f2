#include "base/wire.h"
#include "headrace/example.h"

namespace headrace {
namespace {

constexpr char kTag1 = 0x0A;  // field 1, length-delimited
constexpr char kTag2 = 0x12;
constexpr char kBytesKind = 0x0A;
constexpr char kFloatKind = 0x12;
constexpr char kInt64Kind = 0x1A;

std::size_t varint_size(std::uint64_t value) {
  std::uint8_t buffer[10];
  return static_cast<std::size_t>(write_varint(buffer, value) - buffer);
}

void append_varint(std::string* out, std::uint64_t value) {
  std::uint8_t buffer[10];
  const std::uint8_t* end = write_varint(buffer, value);
  out->append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
}

void append_head(std::string* out, char tag, std::size_t size) {
  out->push_back(tag);
  append_varint(out, size);
}

std::size_t sized(std::size_t content) { return 1 + varint_size(content) + content; }

// Everything of an entry up to the content of its list, `list_size` bytes, which the caller appends.
void append_entry_head(std::string* out, std::string_view key, char kind, std::size_t list_size) {
  const std::size_t feature_size = sized(list_size);
  append_head(out, kTag1, sized(key.size()) + sized(feature_size));
  append_head(out, kTag1, key.size());
  out->append(key);
  append_head(out, kTag2, feature_size);
  append_head(out, kind, list_size);
}

}  // namespace

ExampleBuilder& ExampleBuilder::add_int64(std::string_view key, std::span<const std::int64_t> values) {
  std::size_t packed_size = 0;
  for (const std::int64_t value : values) packed_size += varint_size(static_cast<std::uint64_t>(value));
  append_entry_head(&features_, key, kInt64Kind, values.empty() ? 0 : sized(packed_size));
  if (values.empty()) return *this;
  append_head(&features_, kTag1, packed_size);
  for (const std::int64_t value : values) append_varint(&features_, static_cast<std::uint64_t>(value));
  return *this;
}

ExampleBuilder& ExampleBuilder::add_float(std::string_view key, std::span<const float> values) {
  append_entry_head(&features_, key, kFloatKind, values.empty() ? 0 : sized(values.size_bytes()));
  if (values.empty()) return *this;
  append_head(&features_, kTag1, values.size_bytes());
  features_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return *this;
}

ExampleBuilder& ExampleBuilder::add_bytes(std::string_view key, std::span<const std::string_view> values) {
  std::size_t list_size = 0;
  for (const std::string_view value : values) list_size += sized(value.size());
  append_entry_head(&features_, key, kBytesKind, list_size);
  for (const std::string_view value : values) {
    append_head(&features_, kTag1, value.size());
    features_.append(value);
  }
  return *this;
}

std::string ExampleBuilder::build() const {
  std::string out;
  out.reserve(features_.size() + 11);
  append_head(&out, kTag1, features_.size());
  return out + features_;
}

}  // namespace headrace

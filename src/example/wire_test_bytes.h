// Hand-made protobuf bytes for the tests of this folder: fields and messages written out, nothing checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "example/feature_view.h"

namespace headrace::test {

inline std::string varint(std::uint64_t value) {
  std::uint8_t buffer[10];
  const std::uint8_t* end = write_varint(buffer, value);
  return {reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer)};
}

/// A length-delimited field, a varint field, a field of 4 bytes.
inline std::string bytes_field(std::uint64_t number, std::string_view content) {
  return varint(number << 3 | 2) + varint(content.size()) + std::string(content);
}
inline std::string varint_field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}
inline std::string fixed32_field(std::uint64_t number, float value) {
  return varint(number << 3 | 5) + std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
inline std::string fixed64_field(std::uint64_t number, double value) {
  return varint(number << 3 | 1) + std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
inline std::string group_field(std::uint64_t number, std::string_view content) {
  return varint(number << 3 | 3) + std::string(content) + varint(number << 3 | 4);
}

/// Values of one packed chunk.
inline std::string varints(const std::vector<std::uint64_t>& values) {
  std::string out;
  for (const std::uint64_t value : values) out += varint(value);
  return out;
}
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A Feature of the usual form, an entry of the map, an Example.
inline std::string int64_feature(const std::vector<std::uint64_t>& values) {
  return bytes_field(3, values.empty() ? std::string() : bytes_field(1, varints(values)));
}
inline std::string entry(std::string_view key, std::string_view feature) {
  return bytes_field(1, bytes_field(1, key) + bytes_field(2, feature));
}
inline std::string example(std::string_view entries) { return bytes_field(1, entries); }

/// A copy with exactly the padding that readers may touch, filled with `fill`, so that a sanitizer sees what lies behind.
class Padded {
 public:
  explicit Padded(std::string_view bytes, std::uint8_t fill = 0xFF)
      : storage_(bytes.size() + kRecordPadding, fill), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), storage_.begin());
  }
  std::span<const std::uint8_t> bytes() const { return {storage_.data(), size_}; }
  FeatureView view(ListKind kind) const { return {storage_.data(), static_cast<std::uint32_t>(size_), kind}; }

 private:
  std::vector<std::uint8_t> storage_;
  std::size_t size_;
};

}  // namespace headrace::test

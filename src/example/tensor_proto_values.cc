// The elements of a TensorProto: tensor_content, or the typed field (packed, unpacked, in chunks) of its dtype.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/wire.h"
#include "example/tensor_proto.h"
#include "example/tensor_proto_fields.h"
#include "example/tensor_proto_varints.h"
#include "example/wire_field.h"

namespace headrace {
namespace {

using Bytes = std::span<const std::uint8_t>;

Status bad_tensor(const std::string& reason) { return schema_mismatch("Cannot parse tensor from proto: " + reason); }

// How the typed field of a dtype lies on the wire. An element has one part, a complex one two.
struct Form {
  WireType type;
  std::size_t part_bytes;
  std::size_t parts;
  StoreVarints store;  // kVarint only
};

Form form_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {WireType::kFixed32, 4, 1, nullptr};
    case DType::kFloat64:
      return {WireType::kFixed64, 8, 1, nullptr};
    case DType::kComplex64:
      return {WireType::kFixed32, 4, 2, nullptr};
    case DType::kComplex128:
      return {WireType::kFixed64, 8, 2, nullptr};
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
      return {WireType::kBytes, 1, 1, nullptr};
    default:
      return {WireType::kVarint, size_of(dtype), 1, store_of(dtype)};
  }
}

// Collects the values of one typed field, at most as many as there is room for, and counts all. Without `out` the same
// values are checked and nothing is written.
class PartWriter {
 public:
  /// `message_end`: of the memory that all fields lie in.
  PartWriter(Form form, const std::uint8_t* message_end, std::uint8_t* out, std::size_t capacity)
      : form_(form), message_end_(message_end), out_(out), capacity_(capacity) {}

  /// Nullptr, or what is wrong with `field`.
  const char* add(const WireField& field) {
    if (form_.type == WireType::kBytes && field.type == form_.type) {
      count_ = 0;  // float8_val is one value of bytes, not a list: the last one counts
      return add_packed_words(field.bytes);
    }
    if (field.type == form_.type) return add_value(field.value);
    if (field.type != WireType::kBytes) return "has a wrong wire type";
    return form_.type == WireType::kVarint ? add_packed_varints(field.bytes) : add_packed_words(field.bytes);
  }
  std::size_t count() const { return count_; }

 private:
  const char* add_value(std::uint64_t value) {
    if (form_.type == WireType::kVarint) return add_varints({reinterpret_cast<const std::int64_t*>(&value), 1});
    return add_packed_words({reinterpret_cast<const std::uint8_t*>(&value), form_.part_bytes});
  }

  const char* add_packed_varints(Bytes packed) {
    VarintBlocks blocks(packed, message_end_);
    while (!blocks.at_end()) {
      const std::span<const std::int64_t> values = blocks.next();
      if (values.empty()) return "is damaged";
      if (const char* reason = add_varints(values)) return reason;
    }
    return nullptr;
  }

  const char* add_varints(std::span<const std::int64_t> values) {
    const std::size_t stored = std::min(values.size(), capacity_ - std::min(count_, capacity_));
    std::uint8_t* to = out_ == nullptr ? nullptr : out_ + std::min(count_, capacity_) * form_.part_bytes;
    count_ += values.size();
    return form_.store(values.data(), stored, to) ? nullptr : "has a value out of range";
  }

  const char* add_packed_words(Bytes packed) {
    if (packed.size() % form_.part_bytes != 0) return "is damaged";
    const std::size_t more = packed.size() / form_.part_bytes;
    const std::size_t copied = out_ != nullptr && count_ < capacity_ ? std::min(more, capacity_ - count_) : 0;
    if (copied > 0) std::memcpy(out_ + count_ * form_.part_bytes, packed.data(), copied * form_.part_bytes);
    count_ += more;
    return nullptr;
  }

  const Form form_;
  const std::uint8_t* const message_end_;
  std::uint8_t* const out_;
  const std::size_t capacity_;
  std::size_t count_ = 0;
};

// Gives `take` each piece of the typed field of the dtype; values in the field of another dtype are a failure.
template <class Take>
Status for_each_typed_field(const TensorProtoView& view, Take take) {
  const std::uint32_t wanted = typed_field_of(view.dtype);
  FieldReader fields(view.message);
  WireField field;
  while (fields.next(&field)) {
    if (!is_typed_field(field.number)) continue;
    if (is_message_field(field.number) && field.type != WireType::kBytes) continue;  // an unknown field
    const std::string_view name = typed_field_name(field.number);
    if (field.number != wanted) {
      const bool is_list = field.number != TensorFields::kStringVal;
      if (is_list && field.type == WireType::kBytes && field.bytes.empty()) continue;
      return bad_tensor("values in " + std::string(name) + ", expected in " + std::string(typed_field_name(wanted)) +
                        " for " + std::string(to_string(view.dtype)));
    }
    if (const char* reason = take(field)) return bad_tensor(std::string(name) + " " + reason);
  }
  return {};
}

Status too_many(const TensorProtoView& view, std::size_t count) {
  return bad_tensor(std::string(typed_field_name(typed_field_of(view.dtype))) + " has " + std::to_string(count) +
                    " values, expected " + std::to_string(view.elements));
}

// Repeats the element before `begin` until `end`.
void fill_with_last(std::uint8_t* begin, std::uint8_t* end, std::size_t item) {
  for (std::uint8_t* p = begin; p != end; p += item) std::memcpy(p, p - item, item);
}

bool is_all_bool(std::string_view content) {
  std::uint8_t seen = 0;
  for (const char c : content) seen |= static_cast<std::uint8_t>(c);
  return seen <= 1;
}

// tensor_content of a string tensor: all lengths as varints, then all bytes.
Status decode_string_content(const TensorProtoView& view, std::vector<std::string_view>* out) {
  Status damaged = bad_tensor("tensor_content does not hold " + std::to_string(view.elements) + " strings");
  if (view.elements > static_cast<std::int64_t>(view.content.size())) return damaged;
  const auto* p = reinterpret_cast<const std::uint8_t*>(view.content.data());
  const std::uint8_t* end = p + view.content.size();
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(view.elements));
  for (std::uint64_t& size : sizes) {
    p = read_varint(p, end, &size);
    if (p == nullptr) return damaged;
  }
  out->reserve(sizes.size());
  for (const std::uint64_t size : sizes) {
    if (size > static_cast<std::uint64_t>(end - p)) return damaged;
    out->emplace_back(reinterpret_cast<const char*>(p), size);
    p += size;
  }
  return p == end ? Status() : damaged;
}

// decode_tensor_proto(), or without `out` the checks of it.
Status walk_values(const TensorProtoView& view, std::uint8_t* out) {
  if (view.has_content) {
    if (view.dtype == DType::kBool && !is_all_bool(view.content)) {
      return bad_tensor("tensor_content of a bool tensor has bytes other than 0 and 1");
    }
    if (out != nullptr) std::memcpy(out, view.content.data(), view.content.size());
    return {};
  }
  const Form form = form_of(view.dtype);
  const auto elements = static_cast<std::size_t>(view.elements);
  PartWriter writer(form, view.message.data() + view.message.size(), out, elements * form.parts);
  HEADRACE_RETURN_IF_ERROR(for_each_typed_field(view, [&](const WireField& field) { return writer.add(field); }));
  if (writer.count() % form.parts != 0) return bad_tensor("an odd number of parts of complex values");
  const std::size_t found = writer.count() / form.parts;
  if (found > elements) return too_many(view, found);
  const std::size_t item = form.part_bytes * form.parts;
  if (out == nullptr) return {};
  if (found > 0) {
    fill_with_last(out + found * item, out + elements * item, item);
  } else if (elements > 0) {
    std::memset(out, 0, elements * item);
  }
  return {};
}

}  // namespace

Status decode_tensor_proto(const TensorProtoView& view, std::uint8_t* out) { return walk_values(view, out); }

Status check_tensor_values(const TensorProtoView& view) { return walk_values(view, nullptr); }

Status decode_string_tensor(const TensorProtoView& view, std::vector<std::string_view>* out) {
  out->clear();
  if (view.has_content) return decode_string_content(view, out);
  const auto elements = static_cast<std::size_t>(view.elements);
  std::size_t count = 0;
  HEADRACE_RETURN_IF_ERROR(for_each_typed_field(view, [&](const WireField& field) -> const char* {
    if (field.type != WireType::kBytes) return "has a wrong wire type";
    const std::string_view value(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
    if (count < elements) out->push_back(value);
    ++count;
    return nullptr;
  }));
  if (count > elements) return too_many(view, count);
  if (elements > 0 && out->empty()) out->emplace_back();
  return {};
}

}  // namespace headrace

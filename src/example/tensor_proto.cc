#include "example/tensor_proto.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/wire.h"
#include "example/tensor_proto_fields.h"
#include "example/wire_field.h"

namespace headrace {
namespace {

constexpr int kMaxRank = 254;
constexpr int kInlineRank = 8;

using Bytes = std::span<const std::uint8_t>;

Status bad_tensor(const std::string& reason) { return schema_mismatch("Cannot parse tensor from proto: " + reason); }

// What the bytes of something that is no TensorProto look like.
std::string hint(Bytes proto) {
  const std::string_view text(reinterpret_cast<const char*>(proto.data()), proto.size());
  if (proto.empty()) return " (no bytes)";
  if (text.starts_with("\xFF\xD8\xFF")) return " (looks like a JPEG image)";
  if (text.starts_with("\x89PNG")) return " (looks like a PNG image)";
  if (text.starts_with("GIF8")) return " (looks like a GIF image)";
  return " (looks like raw bytes: use decode_raw, that is RawFeature in a schema)";
}

Status not_a_tensor(Bytes proto) {
  return schema_mismatch("Could not parse `serialized` as TensorProto" + hint(proto));
}

bool add_dim(std::int64_t size, TensorProtoView* view) {
  if (view->rank == kMaxRank) return false;
  if (view->rank < kInlineRank) {
    view->dims[view->rank] = size;
  } else {
    view->more_dims.push_back(size);
  }
  ++view->rank;
  return true;
}

// A TensorShapeProto. Dims are appended: a shape in two pieces is one shape.
Status read_shape(Bytes shape, Bytes proto, TensorProtoView* view) {
  FieldReader fields(shape);
  WireField field;
  while (fields.next(&field)) {
    if (field.is(TensorFields::kUnknownRank, WireType::kVarint) && field.value != 0) {
      return bad_tensor("its rank is unknown");
    }
    if (!field.is(TensorFields::kDim, WireType::kBytes)) continue;
    FieldReader parts(field.bytes);
    WireField part;
    std::int64_t size = 0;
    while (parts.next(&part)) {
      if (part.is(TensorFields::kDimSize, WireType::kVarint)) size = static_cast<std::int64_t>(part.value);
    }
    if (parts.malformed()) return not_a_tensor(proto);
    if (!add_dim(size, view)) return bad_tensor("more than " + std::to_string(kMaxRank) + " dimensions");
  }
  return fields.malformed() ? not_a_tensor(proto) : Status();
}

// Dims are multiplied in their order: a 0 makes everything behind it harmless.
Status count_elements(TensorProtoView* view) {
  std::int64_t product = 1;
  for (int i = 0; i < view->rank; ++i) {
    const std::int64_t size = view->dim(i);
    if (size < 0) return bad_tensor("dimension " + std::to_string(i) + " is " + std::to_string(size));
    if (__builtin_mul_overflow(product, size, &product)) return bad_tensor("its shape has too many elements");
  }
  view->elements = product;
  return {};
}

Status check_size(const TensorProtoView& view) {
  const auto item = static_cast<std::int64_t>(size_of(view.dtype));
  std::int64_t bytes = 0;
  const bool is_too_large = __builtin_mul_overflow(view.elements, item, &bytes);
  if (view.has_content && view.dtype == DType::kBytes) return {};  // its size tells nothing, see decode_string_tensor
  if (view.has_content) {
    if (!is_too_large && static_cast<std::int64_t>(view.content.size()) == bytes) return {};
    return bad_tensor("tensor_content has " + std::to_string(view.content.size()) + " bytes, expected " +
                      std::to_string(view.elements) + " elements of " + std::string(to_string(view.dtype)));
  }
  const bool is_fill = view.elements > static_cast<std::int64_t>(view.message.size());
  if (is_fill && (is_too_large || bytes > kMaxFillBytes)) {
    return bad_tensor("its shape claims " + std::to_string(view.elements) + " elements, the message has " +
                      std::to_string(view.message.size()) + " bytes; at most 1 GiB may be filled with the last value");
  }
  return {};
}

Status read_dtype(std::uint64_t number, TensorProtoView* view) {
  const std::optional<DType> dtype = dtype_of_tensorflow(number);
  if (dtype) {
    view->dtype = *dtype;
    return {};
  }
  const std::string_view name = tensorflow_name(number);
  if (!name.empty()) return bad_tensor("dtype " + std::string(name) + " is not supported");
  return bad_tensor("unknown dtype " + std::to_string(number) + hint(view->message));
}

// The form that TensorFlow's serialize_tensor writes: numeric dtype, up to 8 dims without names, tensor_content, nothing
// else. False for all others and for everything that is wrong; the careful walk decides then.
bool read_usual_form(Bytes proto, TensorProtoView* view) {
  constexpr std::uint8_t kDtypeTag = 0x08;
  constexpr std::uint8_t kShapeTag = 0x12;
  constexpr std::uint8_t kDimTag = 0x12;
  constexpr std::uint8_t kDimSizeTag = 0x08;
  constexpr std::uint8_t kContentTag = 0x22;
  const std::uint8_t* p = proto.data();
  const std::uint8_t* end = p + proto.size();
  if (proto.size() < 4 || p[0] != kDtypeTag || p[2] != kShapeTag || p[3] >= 0x80 || end - p - 4 < p[3]) return false;
  const std::optional<DType> dtype = dtype_of_tensorflow(p[1]);
  if (!dtype || *dtype == DType::kBytes) return false;
  const std::uint8_t* shape_end = p + 4 + p[3];
  std::int64_t elements = 1;
  int rank = 0;
  for (p += 4; p != shape_end; ++rank) {
    if (rank == kInlineRank || shape_end - p < 2 || p[0] != kDimTag || shape_end - p - 2 < p[1]) return false;
    const std::uint8_t* dim_end = p + 2 + p[1];
    std::uint64_t size = 0;
    if (p[1] != 0 && (p[2] != kDimSizeTag || read_varint(p + 3, dim_end, &size) != dim_end)) return false;
    const auto dim = static_cast<std::int64_t>(size);
    if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements)) return false;
    view->dims[rank] = dim;
    p = dim_end;
  }
  std::uint64_t size = 0;
  std::int64_t bytes = 0;
  if (p == end || *p != kContentTag) return false;
  p = read_varint(p + 1, end, &size);
  if (p == nullptr || size == 0 || size != static_cast<std::uint64_t>(end - p)) return false;
  if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(size_of(*dtype)), &bytes)) return false;
  if (static_cast<std::uint64_t>(bytes) != size) return false;
  view->dtype = *dtype;
  view->rank = rank;
  view->elements = elements;
  view->content = {reinterpret_cast<const char*>(p), static_cast<std::size_t>(size)};
  view->has_content = true;
  return true;
}

}  // namespace

Shape TensorProtoView::shape() const {
  Shape shape(dims, dims + std::min(rank, kInlineRank));
  shape.insert(shape.end(), more_dims.begin(), more_dims.end());
  return shape;
}

Status read_tensor_proto(Bytes proto, TensorProtoView* view) {
  view->message = proto;
  view->more_dims.clear();
  if (read_usual_form(proto, view)) [[likely]]
    return {};
  view->rank = 0;
  view->content = {};
  std::uint64_t dtype = 0;
  FieldReader fields(proto);
  WireField field;
  while (fields.next(&field)) {
    if (field.is(TensorFields::kDtype, WireType::kVarint)) {
      dtype = static_cast<std::uint32_t>(field.value);  // an enum has 32 bits
    } else if (field.is(TensorFields::kShape, WireType::kBytes)) {
      HEADRACE_RETURN_IF_ERROR(read_shape(field.bytes, proto, view));
    } else if (field.is(TensorFields::kContent, WireType::kBytes)) {
      view->content = {reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size()};
    }
  }
  if (fields.malformed() || proto.empty()) return not_a_tensor(proto);
  view->has_content = !view->content.empty();
  HEADRACE_RETURN_IF_ERROR(read_dtype(dtype, view));
  HEADRACE_RETURN_IF_ERROR(count_elements(view));
  return check_size(*view);
}

}  // namespace headrace

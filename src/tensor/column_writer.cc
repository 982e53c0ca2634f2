#include "tensor/column_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/wire.h"
#include "example/list_decoder.h"
#include "example/scalar_decoder.h"
#include "tensor/byte_order.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

bool same_shape(const TensorProtoView& view, const Shape& shape) {
  if (static_cast<std::size_t>(view.rank) != shape.size()) return false;
  if (shape.size() > std::size(view.dims)) return view.shape() == shape;
  return std::equal(shape.begin(), shape.end(), view.dims);
}

}  // namespace

std::int64_t write_int64s(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot) {
  return decode_int64_list(list, reinterpret_cast<std::int64_t*>(slot), step.count);
}

std::int64_t write_floats(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot, CopyMode mode) {
  if (const std::uint8_t* values = packed_floats(step, list)) {
    mode.copy(slot, values, step.bytes);
    return step.count;
  }
  return decode_float_list(list, reinterpret_cast<float*>(slot), step.count);
}

const std::uint8_t* packed_floats(const ColumnStep& step, const FeatureView& list) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  return decode_bytes_scalar(list, &data, &size) && size == step.bytes ? data : nullptr;
}

std::int64_t write_strings(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot) {
  return decode_bytes_list(list, reinterpret_cast<std::string_view*>(slot), step.count);
}

Status read_single_bytes(const Feature& feature, const FeatureView& list, std::span<const std::uint8_t>* value) {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (decode_bytes_scalar(list, &data, &size)) {
    *value = {data, static_cast<std::size_t>(size)};
    return {};
  }
  std::string_view text;
  const std::int64_t count = decode_bytes_list(list, &text, 1);
  if (count < 0) return malformed_list(feature.wire_key());
  if (count != 1) return wrong_count(feature, count);
  *value = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  return {};
}

Status write_view(const Feature& feature, const FeatureView& list, std::uint8_t* slot) {
  constexpr std::uint64_t kViewType = 3;
  std::span<const std::uint8_t> value;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &value));
  store_u64(slot, value.size() << 2 | kViewType);
  store_u64(slot + 8, std::bit_cast<std::uint64_t>(value.data()));
  store_u64(slot + 16, 0);
  return {};
}

Status read_tensor(const Feature& feature, std::span<const std::uint8_t> proto, std::int64_t elements,
                   TensorProtoView* view) {
  const Status read = read_tensor_proto(proto, view);
  if (!read.ok()) {
    Where where = at_feature(feature, "a TensorProto of " + tensor_text(feature.dtype, feature.shape),
                             std::to_string(proto.size()) + " bytes that are none");
    const bool has_raw_size = elements >= 0 && feature.dtype != DType::kBytes &&
                              proto.size() == static_cast<std::size_t>(elements) * size_of(feature.dtype);
    if (!has_raw_size) {
      return read.with(where);
    }
    return schema_mismatch(read.message() + "; the value has the size of the raw elements: RawFeature reads those",
                           where);
  }
  if (view->dtype == feature.dtype) return {};
  const std::string expected(to_string(feature.dtype));
  const std::string found(to_string(view->dtype));
  return schema_mismatch("Type mismatch between parsed tensor (" + found + ") and dtype (" + expected + ")",
                         at_feature(feature, expected, found));
}

Status wrong_shape(const Feature& feature, const TensorProtoView& view) {
  const Shape found = view.shape();
  return schema_mismatch(
      "Shape mismatch between parsed tensor " + shape_text(found) + " and shape " + shape_text(feature.shape),
      at_feature(feature, tensor_text(feature.dtype, feature.shape), tensor_text(view.dtype, found)));
}

Status check_tensor(const Feature& feature, std::span<const std::uint8_t> proto, std::int64_t elements,
                    TensorProtoView* view) {
  HEADRACE_RETURN_IF_ERROR(read_tensor(feature, proto, elements, view));
  if (view->elements == elements && (feature.reshape || same_shape(*view, feature.shape))) return {};
  return wrong_shape(feature, *view);
}

Status write_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                    CopyMode mode, TensorProtoView* view) {
  std::span<const std::uint8_t> proto;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &proto));
  HEADRACE_RETURN_IF_ERROR(check_tensor(feature, proto, step.count, view));
  // Bools need a look at every byte, everything else is the array itself.
  if (view->has_content && view->content.size() == step.bytes && feature.dtype != DType::kBool) {
    mode.copy(slot, view->content.data(), step.bytes);
    return {};
  }
  const Status decoded = decode_tensor_proto(*view, slot);
  return decoded.ok() ? decoded : decoded.with(at_feature(feature, tensor_text(feature.dtype, feature.shape), ""));
}

Status write_string_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                           ParseScratch& scratch) {
  std::span<const std::uint8_t> proto;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &proto));
  HEADRACE_RETURN_IF_ERROR(check_tensor(feature, proto, step.count, &scratch.tensor));
  const Status decoded = decode_string_tensor(scratch.tensor, &scratch.strings);
  if (!decoded.ok()) return decoded.with(at_feature(feature, tensor_text(feature.dtype, feature.shape), ""));
  auto* to = std::copy(scratch.strings.begin(), scratch.strings.end(), reinterpret_cast<std::string_view*>(slot));
  auto* const end = reinterpret_cast<std::string_view*>(slot) + step.count;
  if (to != end) std::fill(to, end, scratch.strings.back());  // the last one stands for the rest
  return {};
}

Status wrong_raw_size(const Feature& feature, std::span<const std::uint8_t> value, std::string expected) {
  const std::string length = std::to_string(value.size());
  const Where where = at_feature(feature, expected, length + " bytes");
  if (value.size() % size_of(feature.dtype) != 0) {
    return schema_mismatch("Input to DecodeRaw has length " + length + " that is not a multiple of " +
                               std::to_string(size_of(feature.dtype)) + ", the size of " +
                               std::string(to_string(feature.dtype)),
                           where);
  }
  TensorProtoView view;
  const bool is_proto = read_tensor_proto(value, &view).ok() && view.dtype == feature.dtype;
  return schema_mismatch("Input to DecodeRaw has length " + length + ", expected " + expected + " for " +
                             tensor_text(feature.dtype, feature.shape) +
                             (is_proto ? "; the value looks like a TensorProto: TensorFeature reads those" : ""),
                         where);
}

void copy_raw(const Feature& feature, std::uint8_t* to, std::span<const std::uint8_t> value, CopyMode mode) {
  if (feature.dtype == DType::kBool) {
    for (std::size_t i = 0; i < value.size(); ++i) to[i] = value[i] != 0 ? 1 : 0;
  } else if (feature.little_endian) {
    mode.copy(to, value.data(), value.size());
  } else {
    copy_swapped(feature.dtype, to, value.data(), value.size());
  }
}

Status write_raw(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                 CopyMode mode) {
  std::span<const std::uint8_t> value;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &value));
  if (feature.fixed_length > 0) {
    // A cut inside an element leaves some of its bytes and zeros: padding first, byte order afterwards, as decode_raw.
    if (value.size() >= step.bytes) {
      copy_raw(feature, slot, value.first(step.bytes), mode);
      return {};
    }
    const std::size_t item = size_of(feature.dtype);
    const std::size_t whole = value.size() / item * item;
    copy_raw(feature, slot, value.first(whole), mode);
    std::memset(slot + whole, 0, step.bytes - whole);
    if (whole == value.size()) return {};
    std::array<std::uint8_t, 16> last{};
    std::copy(value.begin() + static_cast<std::ptrdiff_t>(whole), value.end(), last.begin());
    copy_raw(feature, slot + whole, std::span(last).first(item), CopyMode());
    return {};
  }
  if (value.size() != step.bytes) return wrong_raw_size(feature, value, std::to_string(step.bytes) + " bytes");
  copy_raw(feature, slot, value, mode);
  return {};
}

}  // namespace headrace

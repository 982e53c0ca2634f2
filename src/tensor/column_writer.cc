#include "tensor/column_writer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "example/list_decoder.h"
#include "example/scalar_decoder.h"
#include "tensor/byte_order.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

Where at_feature(const Feature& feature, std::string expected, std::string found) {
  Where where;
  where.key = feature.wire_key();
  where.expected = std::move(expected);
  where.found = std::move(found);
  return where;
}

std::string tensor_text(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + " " + shape_text(shape);
}

Shape shape_of(const TensorProtoView& view) {
  const auto first = std::min<std::size_t>(static_cast<std::size_t>(view.rank), std::size(view.dims));
  Shape shape(view.dims, view.dims + first);
  shape.insert(shape.end(), view.more_dims.begin(), view.more_dims.end());
  return shape;
}

bool same_shape(const TensorProtoView& view, const Shape& shape) {
  if (static_cast<std::size_t>(view.rank) != shape.size()) return false;
  if (shape.size() > std::size(view.dims)) return shape_of(view) == shape;
  return std::equal(shape.begin(), shape.end(), view.dims);
}

}  // namespace

std::int64_t write_int64s(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot) {
  return decode_int64_list(list, reinterpret_cast<std::int64_t*>(slot), step.count);
}

std::int64_t write_floats(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot, CopyMode mode) {
  // One packed chunk of the right length is the array itself.
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  if (decode_bytes_scalar(list, &data, &size) && size == step.bytes) {
    mode.copy(slot, data, size);
    return step.count;
  }
  return decode_float_list(list, reinterpret_cast<float*>(slot), step.count);
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

Status check_tensor(const Feature& feature, std::span<const std::uint8_t> proto, std::int64_t elements,
                    TensorProtoView* view) {
  const Status read = read_tensor_proto(proto, view);
  if (!read.ok()) {
    Where where = at_feature(feature, "a TensorProto of " + tensor_text(feature.dtype, feature.shape),
                             std::to_string(proto.size()) + " bytes that are none");
    if (feature.dtype == DType::kBytes || proto.size() != static_cast<std::size_t>(elements) * size_of(feature.dtype)) {
      return read.with(where);
    }
    return schema_mismatch(read.message() + "; the value has the size of the raw elements: RawFeature reads those",
                           where);
  }
  if (view->dtype != feature.dtype) {
    return schema_mismatch(
        "Type mismatch between parsed tensor (" + std::string(to_string(view->dtype)) + ") and dtype (" +
            std::string(to_string(feature.dtype)) + ")",
        at_feature(feature, std::string(to_string(feature.dtype)), std::string(to_string(view->dtype))));
  }
  if (view->elements == elements && (feature.reshape || same_shape(*view, feature.shape))) return {};
  const Shape found = shape_of(*view);
  return schema_mismatch(
      "Shape mismatch between parsed tensor " + shape_text(found) + " and shape " + shape_text(feature.shape),
      at_feature(feature, tensor_text(feature.dtype, feature.shape), tensor_text(view->dtype, found)));
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

Status write_raw(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                 CopyMode mode) {
  std::span<const std::uint8_t> value;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &value));
  if (value.size() != step.bytes) {
    const std::string length = std::to_string(value.size());
    const std::string item = std::to_string(size_of(feature.dtype));
    Where where = at_feature(feature, std::to_string(step.bytes) + " bytes", length + " bytes");
    if (value.size() % size_of(feature.dtype) != 0) {
      return schema_mismatch("Input to DecodeRaw has length " + length + " that is not a multiple of " + item +
                                 ", the size of " + std::string(to_string(feature.dtype)),
                             where);
    }
    TensorProtoView view;
    const bool is_proto = read_tensor_proto(value, &view).ok() && view.elements == step.count;
    return schema_mismatch("Input to DecodeRaw has length " + length + ", expected " + std::to_string(step.bytes) +
                               " for " + tensor_text(feature.dtype, feature.shape) +
                               (is_proto ? "; the value looks like a TensorProto: TensorFeature reads those" : ""),
                           where);
  }
  if (feature.dtype == DType::kBool) {
    for (std::size_t i = 0; i < value.size(); ++i) slot[i] = value[i] != 0 ? 1 : 0;
  } else if (feature.little_endian) {
    mode.copy(slot, value.data(), value.size());
  } else {
    copy_swapped(feature.dtype, slot, value.data(), value.size());
  }
  return {};
}

}  // namespace headrace

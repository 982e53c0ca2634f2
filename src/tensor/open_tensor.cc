#include "tensor/open_tensor.h"

#include <string>

#include "tensor/column_writer.h"
#include "tensor/open_shape.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

using Bytes = std::span<const std::uint8_t>;

Bytes value_of(const Note& note) { return {note.data, note.size}; }

std::int64_t product_of_known(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dimension : shape) product *= dimension < 0 ? 1 : dimension;
  return product;
}

// `shape` with its open dimension worked out from the number of elements.
void work_out(const Shape& shape, std::int64_t open, Shape* dims) {
  *dims = shape;
  for (std::int64_t& dimension : *dims) {
    if (dimension < 0) dimension = open;
  }
}

bool goes_with(const TensorProtoView& view, const Shape& shape) {
  if (static_cast<std::size_t>(view.rank) != shape.size()) return false;
  for (int d = 0; d < view.rank; ++d) {
    const std::int64_t wanted = shape[static_cast<std::size_t>(d)];
    if (wanted >= 0 && wanted != view.dim(d)) return false;
  }
  return true;
}

// The dimensions that the record's tensor has in the column.
Status find_dims(const Feature& feature, const TensorProtoView& view, Shape* dims) {
  if (feature.reshape) {
    const std::int64_t known = product_of_known(feature.shape);
    if (view.elements % known != 0) return wrong_shape(feature, view);
    work_out(feature.shape, view.elements / known, dims);
    return {};
  }
  if (feature.unknown_rank && view.rank > kMaxUnknownRank) {
    return schema_mismatch("Cannot parse tensor from proto: it has " + std::to_string(view.rank) +
                               " dimensions; at most " + std::to_string(kMaxUnknownRank) +
                               " where the shape is not given",
                           at_feature(feature, "at most " + std::to_string(kMaxUnknownRank) + " dimensions",
                                      std::to_string(view.rank) + " dimensions"));
  }
  if (!feature.unknown_rank && !goes_with(view, feature.shape)) return wrong_shape(feature, view);
  dims->clear();
  for (int d = 0; d < view.rank; ++d) dims->push_back(view.dim(d));
  return {};
}

Status note_proto(const Feature& feature, Bytes proto, ParseScratch& scratch, Note* note) {
  HEADRACE_RETURN_IF_ERROR(read_tensor(feature, proto, -1, &scratch.tensor));
  HEADRACE_RETURN_IF_ERROR(find_dims(feature, scratch.tensor, &scratch.dims));
  note->count = scratch.tensor.elements;
  const bool is_text = feature.dtype == DType::kBytes;
  const Status decoded =
      is_text ? decode_string_tensor(scratch.tensor, &scratch.strings) : check_tensor_values(scratch.tensor);
  if (!decoded.ok()) return decoded.with(at_feature(feature, tensor_text(feature.dtype, feature.shape), ""));
  if (!is_text) return {};
  HEADRACE_ASSIGN_OR_RETURN(note->bytes, string_payload(feature, scratch.strings, note->count));
  return {};
}

Status note_raw(const Feature& feature, Bytes value, ParseScratch& scratch, Note* note) {
  const auto row_bytes = static_cast<std::size_t>(product_of_known(feature.shape)) * size_of(feature.dtype);
  if (value.size() % row_bytes != 0) {
    return wrong_raw_size(feature, value, "a multiple of " + std::to_string(row_bytes) + " bytes");
  }
  work_out(feature.shape, static_cast<std::int64_t>(value.size() / row_bytes), &scratch.dims);
  note->count = static_cast<std::int64_t>(value.size() / size_of(feature.dtype));
  return {};
}

Status check_elements(const Feature& feature, const ColumnStep& step, const Note& note, ParseScratch& scratch) {
  if (step.transforms == nullptr || note.count == 0 || !step.transforms->list.program.fallible()) return {};
  const std::uint8_t* values = read_tensor_values(feature, note, scratch);
  if (values == nullptr) return malformed_list(feature.wire_key());
  return check_transforms(feature, *step.transforms, values, note.count, scratch);
}

}  // namespace

Status note_open_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                        Note* notes) {
  if (list.kind != ListKind::kBytes) return wrong_kind(feature, list.kind);
  Bytes value;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &value));
  notes[0] = {value.data(), static_cast<std::uint32_t>(value.size()), ListKind::kBytes, 0,
              static_cast<std::int64_t>(value.size())};
  HEADRACE_RETURN_IF_ERROR(feature.kind == FeatureKind::kRaw ? note_raw(feature, value, scratch, notes)
                                                             : note_proto(feature, value, scratch, notes));
  HEADRACE_RETURN_IF_ERROR(note_open_dims(feature, scratch.dims, notes));
  return check_elements(feature, step, *notes, scratch);
}

Bytes plain_values(const Feature& feature, const Note& note, ParseScratch& scratch) {
  if (feature.kind == FeatureKind::kRaw) {
    const bool is_plain = feature.dtype != DType::kBool && (feature.little_endian || size_of(feature.dtype) == 1);
    return is_plain ? value_of(note) : Bytes();
  }
  if (!read_tensor_proto(value_of(note), &scratch.tensor).ok() || !scratch.tensor.has_content) return {};
  return {reinterpret_cast<const std::uint8_t*>(scratch.tensor.content.data()), scratch.tensor.content.size()};
}

bool write_tensor_values(const Feature& feature, const Note& note, ParseScratch& scratch, std::uint8_t* to) {
  const std::size_t bytes = static_cast<std::size_t>(note.count) * size_of(feature.dtype);
  const Bytes plain = plain_values(feature, note, scratch);
  if (!plain.empty()) {
    if (plain.size() != bytes) return false;
    scratch.mode.copy(to, plain.data(), bytes);
    return true;
  }
  if (feature.kind == FeatureKind::kRaw) {
    copy_raw(feature, to, value_of(note), scratch.mode);
    return true;
  }
  return read_tensor_proto(value_of(note), &scratch.tensor).ok() && scratch.tensor.elements == note.count &&
         decode_tensor_proto(scratch.tensor, to).ok();
}

bool read_tensor_strings(const Note& note, ParseScratch& scratch) {
  if (!read_tensor_proto(value_of(note), &scratch.tensor).ok()) return false;
  if (scratch.tensor.elements != note.count) return false;
  return decode_string_tensor(scratch.tensor, &scratch.strings).ok();
}

const std::uint8_t* read_tensor_values(const Feature& feature, const Note& note, ParseScratch& scratch) {
  const auto count = static_cast<std::size_t>(note.count);
  if (feature.dtype == DType::kBytes) {
    if (!read_tensor_strings(note, scratch)) return nullptr;
    scratch.strings.resize(count, scratch.strings.back());  // the last one stands for the rest
    return reinterpret_cast<const std::uint8_t*>(scratch.strings.data());
  }
  const std::size_t bytes = count * size_of(feature.dtype);
  const Bytes plain = plain_values(feature, note, scratch);
  if (!plain.empty()) return plain.size() == bytes ? plain.data() : nullptr;
  scratch.values.resize(bytes);
  return write_tensor_values(feature, note, scratch, scratch.values.data()) ? scratch.values.data() : nullptr;
}

}  // namespace headrace

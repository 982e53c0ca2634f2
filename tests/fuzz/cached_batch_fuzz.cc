// Encoded batches, as a cache file holds them: what decodes has no column that reaches beyond its buffer, and encodes again.
#include <string>
#include <vector>

#include "fuzz/same_column.h"
#include "tensor/slice_codec.h"

namespace headrace {
namespace {

void look_at(const Tensor& tensor) {
  if (tensor.data == nullptr) return fuzz::require(tensor.bytes() == 0);
  const std::uint8_t* const end = tensor.buffer->data() + tensor.buffer->size();
  fuzz::require(tensor.data >= tensor.buffer->data() && tensor.data + tensor.bytes() <= end);
}

void look_at(const Column& column) {
  look_at(column.values);
  if (column.kind == ColumnKind::kSparse) look_at(column.indices);
  for (const Tensor& splits : column.row_splits) look_at(splits);
  if (column.values.dtype != DType::kBytes) return;
  look_at(column.byte_offsets);
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < column.values.elements(); ++i) bytes += std::string(column.bytes_at(i)).size();
  fuzz::require(column.values.bytes() + bytes <= column.values.buffer->size());
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  static BufferPool pool;
  const Result<std::vector<Slice>> slices = decode_slices({data, size}, pool);
  if (!slices.ok()) return 0;
  for (const Slice& slice : *slices) {
    for (const Column& column : slice.columns) look_at(column);
  }
  fuzz::require(decode_slices(encode_slices(*slices), pool).ok());
  return 0;
}

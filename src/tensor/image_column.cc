#include "tensor/image_column.h"

#include <span>

#include "tensor/column_writer.h"
#include "tensor/parse_errors.h"

namespace headrace {

Status write_image(const Feature& feature, const FeatureView& list, ImageDecoder& decoder, std::uint64_t row_key,
                   std::uint8_t* slot) {
  std::span<const std::uint8_t> file;
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &file));
  const Status status = decoder.decode(file, row_key, slot);
  return status.ok() ? status : status.with(at_feature(feature, tensor_text(feature.dtype, feature.shape), ""));
}

}  // namespace headrace

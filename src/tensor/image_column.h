// Image columns: the file of one record becomes the pixels of its slot.
#pragma once

#include <cstdint>

#include "example/feature_view.h"
#include "headrace/schema.h"
#include "image/image_decoder.h"

namespace headrace {

/// The one byte string of `list`, a JPEG or PNG file, to the feature's pixels at `slot`; or a failure with the key.
Status write_image(const Feature& feature, const FeatureView& list, ImageDecoder& decoder, std::uint64_t row_key,
                   std::uint8_t* slot);

}  // namespace headrace

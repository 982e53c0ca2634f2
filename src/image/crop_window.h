// The crop window: which pixels of an image a column is made of. A pure function of the options, the size of the image and
// the record's random number.
#pragma once

#include <cstdint>

#include "headrace/image.h"

namespace headrace {

/// In pixels of the whole image; not empty, all of it in the image.
struct CropWindow {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Number `counter` of these uses the random numbers of a record from here on; see choose_window() and flips().
constexpr std::uint64_t kFlipCounter = 1000;

/// `crop` is valid (ImageOptions::validate). `key`: of the record's stream of random numbers (base/random.h). kSchemaMismatch when the window is not in the image.
Result<CropWindow> choose_window(const ImageCrop& crop, std::int64_t height, std::int64_t width, std::uint64_t key);

/// Whether the record is one of those whose left and right are swapped.
bool flips(const ImageOptions& options, std::uint64_t key);

/// How many times smaller, 1, 2, 4 or 8, a JPEG may be decoded so that the window still has the pixels of the column.
int dct_reduction(const CropWindow& window, const ImageSize& size);

}  // namespace headrace

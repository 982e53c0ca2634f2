// ImageHeader: what an image file says of itself before a pixel is decoded. Nothing is allocated.
//
// A pure function on borrowed bytes, safe on any of them. What it says is only a claim: decoders check it again.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/status.h"

namespace headrace {

/// The largest max_pixels that may be asked for.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 31;

enum class ImageFormat : std::uint8_t { kJpeg = 1, kPng };

struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  std::int64_t width = 0;   ///< >= 1
  std::int64_t height = 0;  ///< >= 1
  int channels = 0;         ///< in the file; a palette counts as 3
  int bit_depth = 8;
  bool interlaced = false;   ///< PNG
  bool progressive = false;  ///< JPEG: several scans
  bool arithmetic = false;   ///< JPEG: arithmetic coding instead of Huffman's
};

/// kSchemaMismatch with expected and found when it is no JPEG or PNG, or its header is cut or damaged.
Result<ImageHeader> read_image_header(std::span<const std::uint8_t> file);

/// kResourceExhausted naming the limit when the image has more than `max_pixels`, or a side longer than kMaxImageSide, which a
/// file of a few bytes could claim for a row that no memory holds; kSchemaMismatch when `file_bytes` bytes
/// cannot hold it.
Status check_image_size(const ImageHeader& header, std::size_t file_bytes, std::int64_t max_pixels);

}  // namespace headrace

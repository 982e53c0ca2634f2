#include "image/image_header.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/limits.h"

namespace headrace {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 8> kPngSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::uint32_t kMaxPngSide = 0x7FFFFFFFU;
// Deflate makes at most 1,032 bytes of one. A Huffman-coded JPEG spends a bit at least on each block of 64 pixels.
constexpr std::int64_t kMostDeflated = 1032;
constexpr std::int64_t kMostJpegPixels = 64 * 8;
// What stands around the pixels in the smallest files.
constexpr std::int64_t kSlackPixels = 4096;

std::uint32_t big_endian(Bytes bytes, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

Status damaged(const char* format, const std::string& reason, std::string expected, std::string found) {
  Where where;
  where.expected = std::move(expected);
  where.found = std::move(found);
  return schema_mismatch(std::string(format) + " header: " + reason, std::move(where));
}

Status cut_off(const char* format, Bytes file) {
  return damaged(format, "the file ends inside it", std::string("a whole ") + format + " file",
                 std::to_string(file.size()) + " bytes");
}

bool is_frame(std::uint8_t marker) {
  // C4, C8 and CC are tables, not frames.
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

bool has_length(std::uint8_t marker) { return marker != 0x01 && !(marker >= 0xD0 && marker <= 0xD8); }

Result<ImageHeader> read_frame(Bytes frame, std::uint8_t marker, Bytes file) {
  if (frame.size() < 6) return cut_off("JPEG", file);
  ImageHeader header;
  header.format = ImageFormat::kJpeg;
  header.bit_depth = frame[0];
  header.height = big_endian(frame.subspan(1), 2);
  header.width = big_endian(frame.subspan(3), 2);
  header.channels = frame[5];
  header.progressive = marker == 0xC2 || marker == 0xCA;
  header.arithmetic = marker >= 0xC9;
  const bool is_decodable = marker <= 0xC2 || marker == 0xC9 || marker == 0xCA;
  if (!is_decodable || header.bit_depth != 8) {
    return damaged("JPEG", "no decoder for this kind", "a baseline or progressive JPEG of 8 bits",
                   "frame " + std::to_string(marker - 0xC0) + " of " + std::to_string(header.bit_depth) + " bits");
  }
  if (header.width == 0 || header.height == 0) {
    return damaged("JPEG", "the image has no pixels", "a height and width of at least 1",
                   std::to_string(header.height) + " x " + std::to_string(header.width));
  }
  if (header.channels != 1 && header.channels != 3 && header.channels != 4) {
    return damaged("JPEG", "no colour image", "1, 3 or 4 channels", std::to_string(header.channels));
  }
  return header;
}

Result<ImageHeader> read_jpeg(Bytes file) {
  std::size_t at = 2;
  while (true) {
    // Any byte may stand between segments, and any number of FF before a marker.
    while (at < file.size() && file[at] != 0xFF) ++at;
    while (at < file.size() && file[at] == 0xFF) ++at;
    if (at >= file.size()) return cut_off("JPEG", file);
    const std::uint8_t marker = file[at++];
    if (marker == 0 || !has_length(marker)) continue;
    if (marker == 0xD9 || marker == 0xDA) {
      return damaged("JPEG", "pixels before the frame header", "a frame header", "none");
    }
    if (file.size() - at < 2) return cut_off("JPEG", file);
    const std::size_t length = big_endian(file.subspan(at), 2);
    if (length < 2 || file.size() - at < length) return cut_off("JPEG", file);
    if (is_frame(marker)) return read_frame(file.subspan(at + 2, length - 2), marker, file);
    at += length;
  }
}

int png_channels(std::uint8_t color_type) {
  switch (color_type) {
    case 0:
      return 1;
    case 2:
    case 3:
      return 3;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 0;
  }
}

bool is_png_depth(std::uint8_t depth, std::uint8_t color_type) {
  if (depth == 8) return true;
  if (depth == 16) return color_type != 3;
  const bool takes_few = color_type == 0 || color_type == 3;
  return takes_few && (depth == 1 || depth == 2 || depth == 4);
}

Result<ImageHeader> read_png(Bytes file) {
  constexpr std::size_t kBegin = 16;  // behind the signature, length and name of the first chunk
  constexpr std::size_t kBytes = 13;
  if (file.size() < kBegin + kBytes) return cut_off("PNG", file);
  const bool has_header = big_endian(file.subspan(8), 4) == kBytes && big_endian(file.subspan(12), 4) == 0x49484452;
  if (!has_header) return damaged("PNG", "another chunk is first", "IHDR of 13 bytes", "another chunk");
  const Bytes chunk = file.subspan(kBegin, kBytes);
  const std::uint32_t width = big_endian(chunk, 4);
  const std::uint32_t height = big_endian(chunk.subspan(4), 4);
  if (width == 0 || height == 0 || width > kMaxPngSide || height > kMaxPngSide) {
    return damaged("PNG", "no size of a PNG", "a height and width in [1, 2147483647]",
                   std::to_string(height) + " x " + std::to_string(width));
  }
  ImageHeader header;
  header.format = ImageFormat::kPng;
  header.width = width;
  header.height = height;
  header.bit_depth = chunk[8];
  header.channels = png_channels(chunk[9]);
  header.interlaced = chunk[12] == 1;
  if (header.channels == 0 || !is_png_depth(chunk[8], chunk[9]) || chunk[12] > 1) {
    return damaged("PNG", "no kind of PNG", "a colour type with its bit depth",
                   "colour type " + std::to_string(chunk[9]) + ", " + std::to_string(chunk[8]) + " bits, interlace " +
                       std::to_string(chunk[12]));
  }
  return header;
}

}  // namespace

Result<ImageHeader> read_image_header(Bytes file) {
  if (file.size() >= 3 && file[0] == 0xFF && file[1] == 0xD8 && file[2] == 0xFF) return read_jpeg(file);
  if (file.size() >= kPngSignature.size() && std::equal(kPngSignature.begin(), kPngSignature.end(), file.begin())) {
    return read_png(file);
  }
  Where where;
  where.expected = "a JPEG or PNG file";
  where.found = std::to_string(file.size()) + " bytes that begin as neither";
  return schema_mismatch("Unknown image file format", std::move(where));
}

Status check_image_size(const ImageHeader& header, std::size_t file_bytes, std::int64_t max_pixels) {
  const std::string size = std::to_string(header.height) + " x " + std::to_string(header.width) + " pixels";
  // Sides are below 2^31: the product fits.
  const std::int64_t pixels = header.height * header.width;
  Where where;
  where.found = size;
  if (pixels > max_pixels) {
    where.expected = "at most " + std::to_string(max_pixels) + " pixels (max_pixels)";
    return {StatusCode::kResourceExhausted,
            "an image of " + size + " exceeds max_pixels (" + std::to_string(max_pixels) + ")", std::move(where)};
  }
  if (std::max(header.height, header.width) > kMaxImageSide) {
    where.expected = "at most " + std::to_string(kMaxImageSide) + " pixels a side";
    return {StatusCode::kResourceExhausted,
            "an image of " + size + " exceeds " + std::to_string(kMaxImageSide) + " pixels a side", std::move(where)};
  }
  const auto bytes = static_cast<std::int64_t>(file_bytes);
  std::int64_t most = INT64_MAX;
  if (header.format == ImageFormat::kPng) {
    const int samples = header.channels == 3 ? 1 : header.channels;  // a palette has one
    most = kSlackPixels + bytes * kMostDeflated * 8 / (header.bit_depth * samples);
  } else if (!header.arithmetic) {
    most = kSlackPixels + bytes * kMostJpegPixels;
  }
  if (pixels <= most) return {};
  where.expected = "at most " + std::to_string(most) + " pixels in so small a file";
  return schema_mismatch("an image of " + size + " cannot be in " + std::to_string(file_bytes) + " bytes",
                         std::move(where));
}

}  // namespace headrace

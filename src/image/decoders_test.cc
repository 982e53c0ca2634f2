// The JPEG and PNG decoders: windows have the pixels of the whole image; every kind of file; damage of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "image/image_testing.h"
#include "image/jpeg_decoder.h"
#include "image/png_decoder.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps the columns that were asked for.
class KeepRows : public RowSink {
 public:
  KeepRows(const PixelRange& range, int channels) : range_(range), channels_(channels) {}

  void begin(std::int64_t left, std::int64_t width) override {
    EXPECT_LE(left, range_.left);
    EXPECT_GE(left + width, range_.right);
    left_ = left;
    row_.resize(static_cast<std::size_t>(width * channels_));
  }
  std::uint8_t* row() override { return row_.data(); }
  void row_done() override {
    const auto first = row_.begin() + (range_.left - left_) * channels_;
    pixels.insert(pixels.end(), first, first + (range_.right - range_.left) * channels_);
  }

  std::vector<std::uint8_t> pixels;

 private:
  const PixelRange range_;
  const int channels_;
  std::int64_t left_ = 0;
  std::vector<std::uint8_t> row_;
};

std::vector<std::uint8_t> part(const Pixels& whole, const PixelRange& range) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = range.top; y < range.bottom; ++y) {
    for (std::int64_t x = range.left; x < range.right; ++x) {
      for (std::int64_t c = 0; c < whole.channels; ++c) pixels.push_back(whole.at(y, x, c));
    }
  }
  return pixels;
}

Status decode_jpeg(JpegDecoder* decoder, const FileBytes& file, const JpegRequest& request,
                   std::vector<std::uint8_t>* pixels) {
  HEADRACE_ASSIGN_OR_RETURN(const ImageHeader header, read_image_header(file));
  KeepRows sink(request.range, request.channels);
  const Status status = decoder->decode(file, header, request, sink);
  *pixels = sink.pixels;
  return status;
}

TEST(JpegDecoder, WindowsAreThoseOfTheWholeImage) {
  JpegDecoder decoder;
  const Pixels source = test_pixels(77, 131, 3);
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    for (const bool progressive : {false, true}) {
      const FileBytes file = encode_jpeg(source, {.sampling_h = h, .sampling_v = v, .progressive = progressive});
      for (const int reduction : {1, 2, 4, 8}) {
        const Pixels whole = decode_whole(file, 3, reduction);
        for (std::int64_t top = 0; top < whole.height; top += 3) {
          for (std::int64_t left = 0; left < whole.width; left += 5) {
            const PixelRange range{top, left, std::min(top + 4, whole.height), std::min(left + 6, whole.width)};
            std::vector<std::uint8_t> pixels;
            const JpegRequest request{3, reduction, JpegDct::kIntegerFast, range};
            const Status status = decode_jpeg(&decoder, file, request, &pixels);
            ASSERT_TRUE(status.ok()) << status.to_string();
            ASSERT_EQ(pixels, part(whole, range))
                << h << v << progressive << " 1/" << reduction << " at " << top << ' ' << left;
          }
        }
      }
    }
  }
}

TEST(JpegDecoder, GrayAndTheOtherDct) {
  JpegDecoder decoder;
  const FileBytes file = encode_jpeg(test_pixels(20, 30, 3));
  const PixelRange all{0, 0, 20, 30};
  std::vector<std::uint8_t> pixels;
  ASSERT_TRUE(decode_jpeg(&decoder, file, {1, 1, JpegDct::kIntegerAccurate, all}, &pixels).ok());
  EXPECT_EQ(pixels, decode_whole(file, 1, 1, JDCT_ISLOW).data);
  ASSERT_TRUE(
      decode_jpeg(&decoder, encode_jpeg(test_pixels(20, 30, 1)), {3, 1, JpegDct::kIntegerFast, all}, &pixels).ok());
  EXPECT_EQ(pixels[0], pixels[1]);
}

TEST(JpegDecoder, CmykBecomesRgb) {
  JpegDecoder decoder;
  Pixels cmyk{8, 8, 4, {}};
  for (int i = 0; i < 64; ++i) cmyk.data.insert(cmyk.data.end(), {255, 128, 0, 200});
  std::vector<std::uint8_t> pixels;
  const FileBytes file = encode_jpeg(cmyk, {.quality = 100});
  ASSERT_TRUE(decode_jpeg(&decoder, file, {3, 1, JpegDct::kIntegerAccurate, {0, 0, 8, 8}}, &pixels).ok());
  // libjpeg writes an Adobe marker: values are inverted, 200 * ink / 255.
  EXPECT_NEAR(pixels[0], 200, 2);
  EXPECT_NEAR(pixels[1], 100, 2);
  EXPECT_NEAR(pixels[2], 0, 2);
  EXPECT_FALSE(decode_jpeg(&decoder, file, {1, 1, JpegDct::kIntegerFast, {0, 0, 8, 8}}, &pixels).ok());
}

TEST(JpegDecoder, EveryCutIsAnError) {
  JpegDecoder decoder;
  const FileBytes whole = encode_jpeg(test_pixels(40, 40, 3));
  const JpegRequest request{3, 1, JpegDct::kIntegerFast, {0, 0, 40, 40}};
  std::vector<std::uint8_t> expected;
  ASSERT_TRUE(decode_jpeg(&decoder, whole, request, &expected).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    std::vector<std::uint8_t> pixels;
    const Status status = decode_jpeg(&decoder, cut, request, &pixels);
    ASSERT_EQ(status.code(), StatusCode::kSchemaMismatch) << size << " of " << whole.size();
    ASSERT_FALSE(status.where().expected.empty());
  }
  // The decoder is as good as new.
  std::vector<std::uint8_t> pixels;
  ASSERT_TRUE(decode_jpeg(&decoder, whole, request, &pixels).ok());
  EXPECT_EQ(pixels, expected);
}

TEST(JpegDecoder, WhatIsBehindTheWindowIsNotLookedAt) {
  JpegDecoder decoder;
  FileBytes file = encode_jpeg(test_pixels(160, 40, 3));
  file.resize(file.size() / 2);
  std::vector<std::uint8_t> pixels;
  EXPECT_TRUE(decode_jpeg(&decoder, file, {3, 1, JpegDct::kIntegerFast, {0, 0, 16, 40}}, &pixels).ok());
}

TEST(JpegDecoder, AHeaderThatLiesIsFound) {
  JpegDecoder decoder;
  const FileBytes file = encode_jpeg(test_pixels(20, 30, 3));
  ImageHeader header = *read_image_header(file);
  header.width = 31;
  KeepRows sink({0, 0, 20, 30}, 3);
  EXPECT_FALSE(decoder.decode(file, header, {3, 1, JpegDct::kIntegerFast, {0, 0, 20, 30}}, sink).ok());
}

TEST(JpegDecoder, TooManyScansNameTheLimit) {
  FileBytes file = encode_jpeg(test_pixels(16, 16, 1), {.progressive = true});
  // The last scan again and again.
  std::size_t scan = 0;
  for (std::size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == 0xFF && file[i + 1] == 0xDA) scan = i;
  }
  const FileBytes last(file.begin() + static_cast<std::ptrdiff_t>(scan), file.end() - 2);
  file.resize(file.size() - 2);
  for (int i = 0; i < kMaxJpegScans; ++i) file.insert(file.end(), last.begin(), last.end());
  file.insert(file.end(), {0xFF, 0xD9});
  JpegDecoder decoder;
  std::vector<std::uint8_t> pixels;
  const Status status = decode_jpeg(&decoder, file, {1, 1, JpegDct::kIntegerFast, {0, 0, 16, 16}}, &pixels);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("more than 500 scans"));
}

Status decode_png(const FileBytes& file, int channels, const PixelRange& range, std::vector<std::uint8_t>* pixels) {
  HEADRACE_ASSIGN_OR_RETURN(const ImageHeader header, read_image_header(file));
  PngDecoder decoder;
  KeepRows sink(range, channels);
  const Status status = decoder.decode(file, header, channels, range, sink);
  *pixels = sink.pixels;
  return status;
}

std::vector<std::uint8_t> png_pixels(const FileBytes& file, int channels, const PixelRange& range) {
  std::vector<std::uint8_t> pixels;
  const Status status = decode_png(file, channels, range, &pixels);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return pixels;
}

TEST(PngDecoder, WindowsPlainAndInterlaced) {
  for (const int channels : {1, 3, 4}) {
    const Pixels source = test_pixels(19, 23, channels);
    for (const bool interlaced : {false, true}) {
      const FileBytes file = encode_png(source, interlaced);
      EXPECT_EQ(png_pixels(file, channels, {0, 0, 19, 23}), source.data);
      const PixelRange range{5, 7, 18, 9};
      EXPECT_EQ(png_pixels(file, channels, range), part(source, range));
    }
  }
}

TEST(PngDecoder, FewBits) {
  PngWrite gray;
  gray.color_type = PNG_COLOR_TYPE_GRAY;
  gray.bit_depth = 1;
  EXPECT_THAT(png_pixels(encode_png(1, 4, {0xA0}, gray), 1, {0, 0, 1, 4}), ElementsAre(255, 0, 255, 0));
  gray.bit_depth = 2;
  EXPECT_THAT(png_pixels(encode_png(1, 4, {0x1B}, gray), 1, {0, 0, 1, 4}), ElementsAre(0, 85, 170, 255));
  gray.bit_depth = 4;
  EXPECT_THAT(png_pixels(encode_png(1, 2, {0x3F}, gray), 3, {0, 0, 1, 2}), ElementsAre(51, 51, 51, 255, 255, 255));
}

TEST(PngDecoder, SixteenBitsKeepTheUpperEight) {
  PngWrite gray;
  gray.color_type = PNG_COLOR_TYPE_GRAY;
  gray.bit_depth = 16;
  EXPECT_THAT(png_pixels(encode_png(1, 2, {0x12, 0xFF, 0x80, 0x00}, gray), 1, {0, 0, 1, 2}), ElementsAre(0x12, 0x80));
  EXPECT_THAT(png_pixels(encode_png(1, 1, {0x12, 0xFF}, gray), 4, {0, 0, 1, 1}), ElementsAre(0x12, 0x12, 0x12, 255));
}

TEST(PngDecoder, Palettes) {
  PngWrite options;
  options.color_type = PNG_COLOR_TYPE_PALETTE;
  options.bit_depth = 4;
  options.palette = {{10, 20, 30}, {40, 50, 60}};
  options.palette_alpha = {7};
  const FileBytes file = encode_png(1, 2, {0x01}, options);
  EXPECT_THAT(png_pixels(file, 3, {0, 0, 1, 2}), ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_THAT(png_pixels(file, 4, {0, 0, 1, 2}), ElementsAre(10, 20, 30, 7, 40, 50, 60, 255));
}

TEST(PngDecoder, AlphaIsDroppedAddedOrMadeOfAColour) {
  const Pixels two{1, 1, 2, {90, 33}};
  EXPECT_THAT(png_pixels(encode_png(two), 1, {0, 0, 1, 1}), ElementsAre(90));
  EXPECT_THAT(png_pixels(encode_png(two), 4, {0, 0, 1, 1}), ElementsAre(90, 90, 90, 33));
  PngWrite options;
  options.has_transparent = true;
  options.transparent.red = 1;
  options.transparent.green = 2;
  options.transparent.blue = 3;
  const FileBytes file = encode_png(1, 2, {1, 2, 3, 4, 5, 6}, options);
  EXPECT_THAT(png_pixels(file, 4, {0, 0, 1, 2}), ElementsAre(1, 2, 3, 0, 4, 5, 6, 255));
  EXPECT_THAT(png_pixels(file, 3, {0, 0, 1, 2}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(PngDecoder, EveryCutIsAnError) {
  for (const bool interlaced : {false, true}) {
    const FileBytes whole = encode_png(test_pixels(20, 20, 3), interlaced);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      std::vector<std::uint8_t> pixels;
      ASSERT_EQ(decode_png(cut, 3, {0, 0, 20, 20}, &pixels).code(), StatusCode::kSchemaMismatch) << size;
    }
  }
}

TEST(PngDecoder, ADamagedByteIsAnError) {
  FileBytes file = encode_png(test_pixels(20, 20, 3));
  file[file.size() / 2] ^= 0x10;
  std::vector<std::uint8_t> pixels;
  const Status status = decode_png(file, 3, {0, 0, 20, 20}, &pixels);
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_THAT(status.message(), HasSubstr("Invalid PNG data"));
}

}  // namespace
}  // namespace headrace

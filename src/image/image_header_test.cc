#include "image/image_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/image_testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

TEST(ImageHeader, ReadsJpeg) {
  const auto header = read_image_header(encode_jpeg(test_pixels(37, 53, 3)));
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->format, ImageFormat::kJpeg);
  EXPECT_EQ(header->height, 37);
  EXPECT_EQ(header->width, 53);
  EXPECT_EQ(header->channels, 3);
  EXPECT_FALSE(header->progressive);
  EXPECT_FALSE(header->arithmetic);
}

TEST(ImageHeader, ReadsProgressiveGrayAndCmykJpeg) {
  EXPECT_TRUE(read_image_header(encode_jpeg(test_pixels(8, 9, 3), {.progressive = true}))->progressive);
  EXPECT_EQ(read_image_header(encode_jpeg(test_pixels(8, 9, 1)))->channels, 1);
  EXPECT_EQ(read_image_header(encode_jpeg(test_pixels(8, 9, 4)))->channels, 4);
}

TEST(ImageHeader, ReadsPng) {
  const auto header = read_image_header(encode_png(test_pixels(5, 7, 4), true));
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->format, ImageFormat::kPng);
  EXPECT_EQ(header->height, 5);
  EXPECT_EQ(header->width, 7);
  EXPECT_EQ(header->channels, 4);
  EXPECT_EQ(header->bit_depth, 8);
  EXPECT_TRUE(header->interlaced);
}

TEST(ImageHeader, EveryCutIsAnErrorOrTheHeader) {
  for (const FileBytes& file : {encode_jpeg(test_pixels(8, 9, 3)), encode_png(test_pixels(8, 9, 3))}) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      const auto header = read_image_header(std::span(file).first(size));
      if (header.ok()) {
        EXPECT_EQ(header->width, 9);
      } else {
        EXPECT_EQ(header.status().code(), StatusCode::kSchemaMismatch);
        EXPECT_FALSE(header.status().where().expected.empty());
      }
    }
  }
}

TEST(ImageHeader, OtherBytesAreNoImage) {
  const FileBytes text = {'G', 'I', 'F', '8', '9', 'a', 0, 0, 0, 0};
  const Status status = read_image_header(text).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().expected, "a JPEG or PNG file");
  EXPECT_EQ(status.where().found, "10 bytes that begin as neither");
}

FileBytes jpeg_frame(std::uint8_t marker, std::uint8_t bits, std::uint8_t components) {
  return {0xFF, 0xD8, 0xFF, marker, 0, 17, bits, 0, 2, 0, 3, components, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0};
}

TEST(ImageHeader, KindsOfJpegThatNoneDecodes) {
  EXPECT_TRUE(read_image_header(jpeg_frame(0xC0, 8, 3)).ok());
  EXPECT_TRUE(read_image_header(jpeg_frame(0xC9, 8, 3))->arithmetic);
  EXPECT_FALSE(read_image_header(jpeg_frame(0xC3, 8, 3)).ok());   // lossless
  EXPECT_FALSE(read_image_header(jpeg_frame(0xC0, 12, 3)).ok());  // 12 bits
  EXPECT_FALSE(read_image_header(jpeg_frame(0xC0, 8, 2)).ok());
  EXPECT_FALSE(read_image_header(jpeg_frame(0xDA, 8, 3)).ok());  // a scan first
}

TEST(ImageHeader, ABombNamesTheLimit) {
  ImageHeader header;
  header.format = ImageFormat::kPng;
  header.height = 60'000;
  header.width = 50'000;
  header.channels = 3;
  const Status status = check_image_size(header, 1 << 30, 1 << 27);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("60000 x 50000 pixels exceeds max_pixels (134217728)"));
  EXPECT_EQ(status.where().expected, "at most 134217728 pixels (max_pixels)");
}

TEST(ImageHeader, ASideThatNoRowHasMemoryForNamesTheLimit) {
  ImageHeader header;
  header.format = ImageFormat::kPng;
  header.channels = 3;
  for (const bool is_wide : {false, true}) {
    header.width = is_wide ? (1 << 20) + 1 : 1;
    header.height = is_wide ? 1 : (1 << 20) + 1;
    const Status status = check_image_size(header, 1 << 20, 1 << 27);
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(status.message(), HasSubstr("exceeds 1048576 pixels a side"));
    EXPECT_EQ(status.where().expected, "at most 1048576 pixels a side");
    (is_wide ? header.width : header.height) -= 1;
    EXPECT_TRUE(check_image_size(header, 1 << 20, 1 << 27).ok());
  }
}

TEST(ImageHeader, AClaimThatTheBytesCannotHold) {
  ImageHeader header;
  header.height = header.width = 8'000;
  header.channels = 3;
  EXPECT_EQ(check_image_size(header, 1'000, 1 << 27).code(), StatusCode::kSchemaMismatch);
  EXPECT_TRUE(check_image_size(header, 125'000, 1 << 27).ok());  // one bit for each block of 64 pixels
  header.format = ImageFormat::kPng;
  EXPECT_EQ(check_image_size(header, 1'000, 1 << 27).code(), StatusCode::kSchemaMismatch);
}

TEST(ImageHeader, TheSmallestFilesPass) {
  Pixels black{2'000, 2'000, 1, std::vector<std::uint8_t>(4'000'000)};
  const FileBytes jpeg = encode_jpeg(black);
  EXPECT_TRUE(check_image_size(*read_image_header(jpeg), jpeg.size(), 1 << 27).ok());
  const FileBytes progressive = encode_jpeg(black, {.progressive = true});
  EXPECT_TRUE(check_image_size(*read_image_header(progressive), progressive.size(), 1 << 27).ok());
  PngWrite bits;
  bits.color_type = PNG_COLOR_TYPE_GRAY;
  bits.bit_depth = 1;
  const FileBytes png = encode_png(4'000, 4'000, std::vector<std::uint8_t>(4'000 * 500), bits);
  EXPECT_TRUE(check_image_size(*read_image_header(png), png.size(), 1 << 27).ok());
}

}  // namespace
}  // namespace headrace

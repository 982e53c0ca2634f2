#include "image/image_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "image/image_testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint8_t> decoded(const FileBytes& file, const ImageOptions& options, const Shape& shape,
                                  std::uint64_t key = 0) {
  ImageDecoder decoder(options, DType::kUint8, shape);
  std::vector<std::uint8_t> slot(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]) + 8, 0xAB);
  const Status status = decoder.decode(file, key, slot.data());
  EXPECT_TRUE(status.ok()) << status.to_string();
  for (std::size_t i = slot.size() - 8; i < slot.size(); ++i) EXPECT_EQ(slot[i], 0xAB) << "written behind the slot";
  return {slot.begin(), slot.end() - 8};
}

TEST(ImageDecoder, AnImageOfTheRightSizeIsItself) {
  const Pixels source = test_pixels(20, 30, 3);
  EXPECT_EQ(decoded(encode_png(source), {}, {20, 30, 3}), source.data);
  const FileBytes jpeg = encode_jpeg(source);
  EXPECT_EQ(decoded(jpeg, {.resize = ImageResize::kNone}, {20, 30, 3}), decode_whole(jpeg, 3).data);
}

TEST(ImageDecoder, AFixedCropIsAPartOfTheWhole) {
  const FileBytes jpeg = encode_jpeg(test_pixels(60, 90, 3));
  const Pixels whole = decode_whole(jpeg, 3);
  const auto crop = decoded(jpeg, {.crop = FixedCrop{11, 37, 20, 30}}, {20, 30, 3});
  const auto planar = decoded(jpeg, {.layout = ImageLayout::kNchw, .crop = FixedCrop{11, 37, 20, 30}}, {3, 20, 30});
  for (std::int64_t y = 0; y < 20; ++y) {
    for (std::int64_t x = 0; x < 30; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        ASSERT_EQ(crop[static_cast<std::size_t>((y * 30 + x) * 3 + c)], whole.at(11 + y, 37 + x, c));
        ASSERT_EQ(planar[static_cast<std::size_t>((c * 20 + y) * 30 + x)], whole.at(11 + y, 37 + x, c));
      }
    }
  }
}

TEST(ImageDecoder, FlippedOrNotIsTheOnlyDifference) {
  for (const std::int64_t side : {30, 17}) {  // copied, resized
    const FileBytes file = encode_png(test_pixels(30, 30, 3));
    const auto plain = decoded(file, {}, {side, side, 3});
    auto turned = plain;
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        for (std::int64_t c = 0; c < 3; ++c) {
          turned[static_cast<std::size_t>((y * side + x) * 3 + c)] =
              plain[static_cast<std::size_t>((y * side + side - 1 - x) * 3 + c)];
        }
      }
    }
    int flipped = 0;
    for (std::uint64_t key = 0; key < 40; ++key) {
      const auto image = decoded(file, {.random_flip = true}, {side, side, 3}, key);
      if (image == turned) {
        ++flipped;
      } else {
        EXPECT_EQ(image, plain);
      }
    }
    EXPECT_GT(flipped, 8);
    EXPECT_LT(flipped, 32);
  }
}

TEST(ImageDecoder, AReducedDecodeIsTheReducedImage) {
  const FileBytes jpeg = encode_jpeg(test_pixels(160, 240, 3));
  EXPECT_EQ(decoded(jpeg, {}, {80, 120, 3}), decode_whole(jpeg, 3, 2).data);
  EXPECT_EQ(decoded(jpeg, {}, {20, 30, 3}), decode_whole(jpeg, 3, 8).data);
  EXPECT_NE(decoded(jpeg, {.reduce = false}, {20, 30, 3}), decode_whole(jpeg, 3, 8).data);
}

TEST(ImageDecoder, OneSeedDrawsAlike) {
  const FileBytes image = encode_png(test_pixels(50, 60, 3));
  const FileBytes mask = encode_png(test_pixels(50, 60, 1));
  const ImageOptions options{.crop = RandomResizedCrop(), .random_flip = true};
  const auto first = decoded(image, options, {20, 20, 3}, 5);
  EXPECT_EQ(first, decoded(image, options, {20, 20, 3}, 5));
  EXPECT_NE(first, decoded(image, options, {20, 20, 3}, 6));
  ImageOptions other = options;
  other.seed = 1;
  EXPECT_NE(first, decoded(image, other, {20, 20, 3}, 5));
  // Channel 0 of the image is the mask's only one.
  const auto part = decoded(mask, options, {20, 20, 1}, 5);
  for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], first[3 * i]);
}

Status failure(const FileBytes& file, const ImageOptions& options, const Shape& shape) {
  ImageDecoder decoder(options, DType::kUint8, shape);
  std::vector<std::uint8_t> slot(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  return decoder.decode(file, 0, slot.data());
}

TEST(ImageDecoder, Failures) {
  const FileBytes jpeg = encode_jpeg(test_pixels(20, 30, 3));
  const Status size = failure(jpeg, {.resize = ImageResize::kNone}, {20, 31, 3});
  EXPECT_EQ(size.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(size.where().expected, "20 x 31 pixels");
  EXPECT_EQ(size.where().found, "20 x 30 pixels");
  EXPECT_THAT(failure(jpeg, {}, {20, 30, 4}).message(), HasSubstr("a JPEG has no alpha"));
  EXPECT_EQ(failure(jpeg, {.max_pixels = 599}, {20, 30, 3}).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(failure(jpeg, {.max_pixels = 600}, {20, 30, 3}).ok());
  FileBytes wide = encode_png(test_pixels(1, 20, 1));
  wide[17] = 0x10;  // 2^20 more pixels, says its header
  EXPECT_EQ(failure(wide, {}, {20, 30, 1}).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(failure({}, {}, {20, 30, 3}).code(), StatusCode::kSchemaMismatch);
}

TEST(ImageOptions, WhatCannotBe) {
  const auto why = [](const ImageOptions& options, DType dtype = DType::kUint8, const Shape& shape = {8, 8, 3}) {
    return options.validate(dtype, shape).message();
  };
  EXPECT_EQ(why({}), "");
  EXPECT_THAT(why({}, DType::kInt32), HasSubstr("must be uint8 or float32"));
  EXPECT_THAT(why({}, DType::kUint8, {8, 8, 2}), HasSubstr("channels must be 1, 3 or 4, found 2"));
  EXPECT_THAT(why({}, DType::kUint8, {0, 8, 3}), HasSubstr("height and width"));
  EXPECT_THAT(why({.crop = CentralCrop{1.5}}), HasSubstr("fraction 1.5 is not in (0, 1]"));
  EXPECT_THAT(why({.crop = RandomResizedCrop{.min_area = 0}}), HasSubstr("area [0.0, 1.0]"));
  EXPECT_THAT(why({.crop = RandomResizedCrop{.min_ratio = 2}}), HasSubstr("ratio"));
  EXPECT_THAT(why({.crop = RandomCrop{0, 1}}), HasSubstr("at least 1"));
  EXPECT_THAT(why({.crop = FixedCrop{-1, 0, 1, 1}}), HasSubstr("at least 0"));
  EXPECT_THAT(why({.crop = FixedCrop{0, INT64_MAX, 1, 1}}), HasSubstr("beyond 2147483647"));
  EXPECT_THAT(why({.mean = {1}}), HasSubstr("mean is for dtype float32 only"));
  EXPECT_THAT(why({.mean = {1, 2}}, DType::kFloat32), HasSubstr("mean has 2 numbers, expected 1 or 3"));
  EXPECT_THAT(why({.std = {0}}, DType::kFloat32), HasSubstr("std must be above 0"));
  EXPECT_THAT(why({.max_pixels = 0}), HasSubstr("max_pixels"));
}

}  // namespace
}  // namespace headrace

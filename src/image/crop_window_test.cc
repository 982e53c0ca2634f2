#include "image/crop_window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"

namespace headrace {
namespace {

void expect_window(const Result<CropWindow>& window, std::int64_t top, std::int64_t left, std::int64_t height,
                   std::int64_t width) {
  ASSERT_TRUE(window.ok()) << window.status().to_string();
  EXPECT_EQ(window->top, top);
  EXPECT_EQ(window->left, left);
  EXPECT_EQ(window->height, height);
  EXPECT_EQ(window->width, width);
}

TEST(CropWindow, WithoutACropAllOfIt) { expect_window(choose_window({}, 30, 40, 1), 0, 0, 30, 40); }

TEST(CropWindow, TheMiddleIsTensorFlows) {
  // tf.image.central_crop of 301 x 400 at 0.875: starts int((301 - 263.375) / 2) = 18 and 25.
  expect_window(choose_window(CentralCrop{.fraction = 0.875}, 301, 400, 1), 18, 25, 265, 350);
  expect_window(choose_window(CentralCrop{.fraction = 1}, 301, 400, 1), 0, 0, 301, 400);
  expect_window(choose_window(CentralCrop{.fraction = 1e-9}, 4, 5, 1), 1, 2, 2, 1);
}

TEST(CropWindow, TheMiddleSquare) {
  // 224 / 256 of 300 is 262; (300 - 262 + 1) / 2 = 19, (400 - 262 + 1) / 2 = 69.
  expect_window(choose_window(CentralCrop{.fraction = 0.875, .square = true}, 300, 400, 1), 19, 69, 262, 262);
}

TEST(CropWindow, AFixedOneMustBeInside) {
  expect_window(choose_window(FixedCrop{1, 2, 3, 4}, 4, 6, 1), 1, 2, 3, 4);
  const Status status = choose_window(FixedCrop{1, 2, 3, 4}, 4, 5, 1).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().expected, "at least 4 x 6 pixels");
  EXPECT_EQ(status.where().found, "4 x 5 pixels");
  EXPECT_FALSE(choose_window(FixedCrop{0x7FFFFFFF, 0, 1, 1}, 4, 5, 1).ok());
}

TEST(CropWindow, ARandomPlaceReachesEveryPlace) {
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (std::uint64_t key = 0; key < 500; ++key) {
    const auto window = choose_window(RandomCrop{3, 4}, 5, 6, mix64(key));
    ASSERT_TRUE(window.ok());
    EXPECT_EQ(window->height, 3);
    EXPECT_EQ(window->width, 4);
    places.emplace(window->top, window->left);
  }
  EXPECT_EQ(places.size(), 9U);
  EXPECT_EQ(places.rbegin()->first, 2);
  EXPECT_FALSE(choose_window(RandomCrop{6, 4}, 5, 6, 1).ok());
}

TEST(CropWindow, RandomResizedKeepsItsRanges) {
  const RandomResizedCrop crop;
  double areas = 0;
  constexpr int kDraws = 4'000;
  for (std::uint64_t key = 0; key < kDraws; ++key) {
    const auto window = choose_window(crop, 400, 500, mix64(key + 1));
    ASSERT_TRUE(window.ok());
    ASSERT_GE(window->top, 0);
    ASSERT_GE(window->left, 0);
    ASSERT_LE(window->top + window->height, 400);
    ASSERT_LE(window->left + window->width, 500);
    const auto height = static_cast<double>(window->height);
    const auto width = static_cast<double>(window->width);
    EXPECT_NEAR(std::clamp(width / height, 0.75, 4.0 / 3), width / height, 0.02);
    const double area = height * width / 200'000;
    EXPECT_GT(area, 0.075);
    areas += area;
  }
  EXPECT_NEAR(areas / kDraws, 0.45, 0.03);  // below 0.54: large ones that do not fit are drawn again
}

TEST(CropWindow, NumbersAreWrittenDown) {
  // Part of the frozen stream: these windows never change.
  expect_window(choose_window(RandomResizedCrop(), 375, 500, 42), 18, 168, 303, 264);
  expect_window(choose_window(RandomCrop{224, 224}, 375, 500, 42), 57, 71, 224, 224);
}

TEST(CropWindow, WhatNeverFitsIsTheMiddle) {
  // 1,000 times as wide as high: no draw of at least 8 % of the area at a ratio up to 4 / 3 fits.
  expect_window(choose_window(RandomResizedCrop(), 10, 10'000, 7), 0, 4'993, 10, 13);
  expect_window(choose_window(RandomResizedCrop(), 10'000, 10, 7), 4'993, 0, 13, 10);
}

TEST(CropWindow, HalfOfTheRecordsAreFlipped) {
  ImageOptions options;
  EXPECT_FALSE(flips(options, 1));
  EXPECT_FALSE(options.draws());
  options.random_flip = true;
  EXPECT_TRUE(options.draws());
  int flipped = 0;
  for (std::uint64_t key = 0; key < 1'000; ++key) flipped += flips(options, mix64(key)) ? 1 : 0;
  EXPECT_NEAR(flipped, 500, 60);
}

TEST(CropWindow, TheReductionKeepsThePixelsOfTheColumn) {
  const ImageSize size{100, 100, 3};
  EXPECT_EQ(dct_reduction({0, 0, 199, 400}, size), 1);
  EXPECT_EQ(dct_reduction({0, 0, 200, 400}, size), 2);
  EXPECT_EQ(dct_reduction({0, 0, 799, 900}, size), 4);
  EXPECT_EQ(dct_reduction({0, 0, 9'000, 800}, size), 8);
  EXPECT_EQ(dct_reduction({0, 0, 50, 50}, size), 1);
}

}  // namespace
}  // namespace headrace

// Taps and the resize: written-down values of tf.image.resize, and a plain double-precision loop to compare with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "image/byte_resize.h"
#include "image/image_testing.h"
#include "image/resize_kernels.h"
#include "image/resize_sink.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(Taps, HalfPixelCentres) {
  Taps taps;
  taps.set({0, 4, 0, 4}, 2, false);
  EXPECT_EQ(taps.count, 2);
  EXPECT_THAT(taps.first, ElementsAre(0, 2));
  EXPECT_THAT(taps.weights, ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
}

TEST(Taps, EdgesAreRepeated) {
  Taps taps;
  taps.set({0, 2, 0, 2}, 4, false);
  EXPECT_THAT(taps.first, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(taps.weights, ElementsAre(1, 0, 0.75F, 0.25F, 0.25F, 0.75F, 0, 1));
  taps.reverse();
  EXPECT_THAT(taps.weights, ElementsAre(0, 1, 0.25F, 0.75F, 0.75F, 0.25F, 1, 0));
}

TEST(Taps, OnePixelIsAllThereIs) {
  Taps taps;
  taps.set({3, 4, 3, 4}, 3, false);
  EXPECT_EQ(taps.count, 1);
  EXPECT_THAT(taps.first, ElementsAre(3, 3, 3));
  EXPECT_THAT(taps.weights, ElementsAre(1, 1, 1));
  taps.set({3, 4, 3, 4}, 3, true);
  EXPECT_THAT(taps.weights, ElementsAre(1, 1, 1));
}

TEST(Taps, AWindowBetweenPixels) {
  Taps taps;
  taps.set({1.5, 3.5, 1, 4}, 2, false);
  EXPECT_THAT(taps.first, ElementsAre(1, 2));
  EXPECT_THAT(taps.weights, ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
}

TEST(Taps, ATriangleWhenItShrinks) {
  Taps taps;
  taps.set({0, 4, 0, 4}, 2, true);
  EXPECT_EQ(taps.count, 4);
  // Centres at 1 and 3, two pixels wide: 0.75, 0.75, 0.25 of 1.75.
  EXPECT_THAT(taps.first, ElementsAre(0, 0));
  EXPECT_THAT(taps.weights, Pointwise(FloatNear(1e-6F), {0.428571F, 0.428571F, 0.142857F, 0.0F,  //
                                                         0.0F, 0.142857F, 0.428571F, 0.428571F}));
}

struct Case {
  std::int64_t height, width, channels, out_height, out_width;
  bool antialias;
};

std::vector<float> resized(const Pixels& source, const Case& the, bool flip) {
  ImageOptions options;
  const ImageSize size{the.out_height, the.out_width, the.channels};
  const RowWriter writer(options, DType::kFloat32, size);
  ResizeSink sink(writer, size);
  std::vector<float> out(static_cast<std::size_t>(the.out_height * the.out_width * the.channels));
  ResizeJob job{0, 0, static_cast<double>(the.height), static_cast<double>(the.width)};
  job.range = {0, 0, the.height, the.width};
  job.antialias = the.antialias;
  job.flip = flip;
  sink.prepare(job, reinterpret_cast<std::uint8_t*>(out.data()));
  sink.begin(0, the.width);
  const auto row_bytes = static_cast<std::size_t>(the.width * the.channels);
  for (std::int64_t y = 0; y < the.height; ++y) {
    std::memcpy(sink.row(), source.data.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    sink.row_done();
  }
  return out;
}

double expected(const Pixels& source, const Taps& rows, const Taps& columns, std::int64_t y, std::int64_t x,
                std::int64_t c) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    for (std::int64_t k = 0; k < columns.count; ++k) {
      sum += double{rows.weights_of(y)[i]} * double{columns.weights_of(x)[k]} *
             source.at(rows.first[static_cast<std::size_t>(y)] + i, columns.first[static_cast<std::size_t>(x)] + k, c);
    }
  }
  return sum;
}

TEST(ResizeSink, IsTheSumOfItsTaps) {
  for (const Case& the : {Case{17, 23, 3, 9, 31, false},
                          {40, 50, 1, 7, 9, false},
                          {40, 50, 3, 7, 9, true},
                          {5, 4, 4, 20, 21, true},
                          {1, 1, 3, 4, 4, false},
                          {64, 2, 4, 3, 1, true},
                          {300, 300, 1, 1, 1, true}}) {
    const Pixels source = test_pixels(the.height, the.width, the.channels);
    const std::vector<float> plain = resized(source, the, false);
    const std::vector<float> flipped = resized(source, the, true);
    Taps rows;
    Taps columns;
    rows.set({0, static_cast<double>(the.height), 0, the.height}, the.out_height, the.antialias);
    columns.set({0, static_cast<double>(the.width), 0, the.width}, the.out_width, the.antialias);
    for (std::int64_t y = 0; y < the.out_height; ++y) {
      for (std::int64_t x = 0; x < the.out_width; ++x) {
        for (std::int64_t c = 0; c < the.channels; ++c) {
          const auto at = [&](std::int64_t column) {
            return static_cast<std::size_t>((y * the.out_width + column) * the.channels + c);
          };
          const double right = expected(source, rows, columns, y, x, c);
          ASSERT_NEAR(plain[at(x)], right, 1e-3);
          ASSERT_NEAR(flipped[at(the.out_width - 1 - x)], right, 1e-3);
        }
      }
    }
  }
}

TEST(ByteResize, RowsAreBlended) {
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  for (int i = 0; i < 256; ++i) {
    a.push_back(static_cast<std::uint8_t>(i));
    b.push_back(static_cast<std::uint8_t>(37 * i + 5));
  }
  std::vector<std::int16_t> to(a.size());
  for (const float weight : {0.0F, 0.1F, 0.5F, 0.999F, 1.0F}) {
    blend_byte_rows(a.data(), b.data(), weight, static_cast<std::int64_t>(a.size()), to.data());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(to[i] / 128.0, a[i] + (int{b[i]} - int{a[i]}) * double{weight}, 0.0125) << i << " at " << weight;
    }
  }
}

TEST(ByteResize, ColumnsAreTheScalarOnes) {
  std::vector<std::int16_t> from;
  for (int i = 0; i < 400; ++i) from.push_back(static_cast<std::int16_t>((i * 7919) % 32641));
  from.resize(from.size() + kBytePadding, 32'640);
  for (const std::int64_t channels : {1, 3, 4}) {
    for (std::int64_t outputs = 1; outputs < 40; ++outputs) {
      std::vector<std::int32_t> first;
      std::vector<ByteWeights> weights;
      for (std::int64_t x = 0; x < outputs; ++x) {
        first.push_back(static_cast<std::int32_t>((x * 5 % (400 / channels - 1)) * channels));
        weights.emplace_back(static_cast<float>(x) / static_cast<float>(outputs));
      }
      const auto bytes = static_cast<std::size_t>(outputs * channels);
      std::vector<std::uint8_t> plain(bytes + 16, 7);
      std::vector<std::uint8_t> fast(bytes + 16, 7);
      const ByteColumns columns{from.data(), first.data(), weights.data(), outputs, channels};
      blend_byte_columns_scalar(columns, plain.data());
      blend_byte_columns(columns, fast.data());
      ASSERT_EQ(fast, plain) << outputs << " of " << channels;  // and nothing behind them
      for (std::size_t i = 0; i < bytes; ++i) {
        const auto at = static_cast<std::size_t>(first[i / static_cast<std::size_t>(channels)]) +
                        i % static_cast<std::size_t>(channels);
        const double part = static_cast<double>(i / static_cast<std::size_t>(channels)) / static_cast<double>(outputs);
        const double right = from[at] + part * (int{from[at + static_cast<std::size_t>(channels)]} - int{from[at]});
        ASSERT_NEAR(plain[i], right / 128, 0.515);
      }
    }
  }
}

TEST(RowWriter, LayoutsTypesAndConstants) {
  const ImageSize size{1, 2, 3};
  ImageOptions options;
  const float row[] = {0.4F, 0.5F, 254.6F, 1, 2, 3};
  std::vector<std::uint8_t> bytes(6);
  RowWriter(options, DType::kUint8, size).write(bytes.data(), 0, row);
  EXPECT_THAT(bytes, ElementsAre(0, 1, 255, 1, 2, 3));
  options.layout = ImageLayout::kNchw;
  RowWriter(options, DType::kUint8, size).write(bytes.data(), 0, row);
  EXPECT_THAT(bytes, ElementsAre(0, 1, 1, 2, 255, 3));
  options.mean = {1, 2, 3};
  options.std = {2};
  std::vector<float> floats(6);
  const std::uint8_t pixels[] = {1, 2, 3, 5, 8, 11};
  RowWriter(options, DType::kFloat32, size).write(reinterpret_cast<std::uint8_t*>(floats.data()), 0, pixels);
  EXPECT_THAT(floats, ElementsAre(0, 2, 0, 3, 0, 4));
  options.layout = ImageLayout::kNhwc;
  RowWriter(options, DType::kFloat32, size).write(reinterpret_cast<std::uint8_t*>(floats.data()), 0, pixels);
  EXPECT_THAT(floats, ElementsAre(0, 0, 0, 2, 3, 4));
}

}  // namespace
}  // namespace headrace

// Transforms alone: values written down, both versions of every kernel, ranges, what is refused.
#include "example/transform_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "example/float16.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Feature numbers(DType dtype, Shape shape, std::vector<Transform> transforms) {
  return {.name = "a", .dtype = dtype, .shape = std::move(shape), .transforms = std::move(transforms)};
}

// What `transforms` make of `values`, one row of them, at an odd address.
template <class To, class From>
std::vector<To> turned(DType dtype, const std::vector<From>& values, std::vector<Transform> transforms) {
  const Result<TransformList> list =
      compile_transforms(numbers(dtype, {static_cast<std::int64_t>(values.size())}, std::move(transforms)));
  EXPECT_TRUE(list.ok()) << list.status().to_string();
  if (!list.ok()) return {};
  std::vector<std::uint8_t> from(values.size() * sizeof(From) + 1);
  std::memcpy(from.data() + 1, values.data(), values.size() * sizeof(From));
  std::vector<To> to(values.size() * list->value_bytes / sizeof(To));
  TransformScratch scratch;
  const BadValue bad = list->program.run(from.data() + 1, reinterpret_cast<std::uint8_t*>(to.data()),
                                         static_cast<std::int64_t>(values.size()), scratch);
  EXPECT_EQ(bad.index, -1);
  return to;
}

std::string refusal(const Feature& feature) {
  const Result<TransformList> list = compile_transforms(feature);
  return list.ok() ? "" : list.status().message();
}

TEST(Transforms, Arithmetic) {
  const std::vector<float> values = {0, 1, -2, 0.1F};
  EXPECT_THAT(turned<float>(DType::kFloat32, values, {Scale{{2}, {1}}}), ElementsAre(1, 3, -3, 0.1F * 2 + 1));
  EXPECT_THAT(turned<float>(DType::kFloat32, values, {Normalize{{1}, {4}}}),
              ElementsAre(-0.25F, 0, -0.75F, (0.1F - 1) / 4));
  EXPECT_THAT(turned<float>(DType::kFloat32, values, {Clip{std::int64_t{-1}, 0.5}}), ElementsAre(0, 0.5F, -1, 0.1F));
  EXPECT_THAT(turned<double>(DType::kFloat32, values, {Cast{DType::kFloat64}, Scale{{0.1}, {0}}}),
              ElementsAre(0, 0.1, -0.2, 0.1 * static_cast<double>(0.1F)));
  const auto filled = turned<float>(DType::kFloat32, std::vector<float>{kNan, 1, -kNan, kInfinity}, {FillNan{7}});
  EXPECT_THAT(filled, ElementsAre(7, 1, 7, kInfinity));
  const auto logs = turned<float>(DType::kFloat32, std::vector<float>{0, 1, -1, -2, kInfinity}, {Log1p{}});
  EXPECT_EQ(logs[0], 0.0F);
  EXPECT_FLOAT_EQ(logs[1], 0.6931472F);
  EXPECT_EQ(logs[2], -kInfinity);
  EXPECT_TRUE(std::isnan(logs[3]));
  EXPECT_EQ(logs[4], kInfinity);
  EXPECT_TRUE(std::isnan(turned<float>(DType::kFloat32, std::vector<float>{kNan}, {Clip{0.0, 1.0}})[0]));
}

// The nearest float, or at a tie that double cannot see the one beside it; from the smallest to the largest.
TEST(Transforms, Log1pIsNextToTheTruth) {
  std::vector<float> values;
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (int step = 0; step < 61; ++step) {
      const auto value = static_cast<float>(std::ldexp(1.0 + step / 61.0, exponent));
      values.push_back(value);
      if (value < 1) values.push_back(-value);
    }
  }
  const auto logs = turned<float>(DType::kFloat32, values, {Log1p{}});
  int exact = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto truth = static_cast<float>(std::log1p(static_cast<double>(values[i])));
    ASSERT_LE(std::abs(std::bit_cast<std::int32_t>(logs[i]) - std::bit_cast<std::int32_t>(truth)), 1) << values[i];
    exact += logs[i] == truth ? 1 : 0;
  }
  EXPECT_GT(exact, static_cast<int>(values.size()) * 999 / 1000);
}

// Constants that go along the last dimension, for more values than a piece or a pattern has.
TEST(Transforms, ConstantsOfChannels) {
  constexpr std::int64_t kRows = 1000;
  Feature feature = numbers(DType::kUint8, {kRows, 3}, {Cast{DType::kFloat32}, Normalize{{1, 2, 3}, {2, 4, 8}}});
  const Result<TransformList> list = compile_transforms(feature);
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  std::vector<std::uint8_t> values(kRows * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 7);
  std::vector<float> out(values.size());
  TransformScratch scratch;
  ASSERT_EQ(list->program.run(values.data(), reinterpret_cast<std::uint8_t*>(out.data()), kRows * 3, scratch).index,
            -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float mean = static_cast<float>(i % 3 + 1);
    ASSERT_EQ(out[i], (static_cast<float>(values[i]) - mean) / static_cast<float>(2 << i % 3)) << i;
  }
}

TEST(Transforms, CastsOfWholeNumbers) {
  const std::vector<std::int64_t> small = {0, 1, 127};
  EXPECT_THAT(turned<std::int8_t>(DType::kInt64, small, {Cast{DType::kInt8}}), ElementsAre(0, 1, 127));
  EXPECT_THAT(turned<std::uint64_t>(DType::kInt64, small, {Cast{DType::kUint64}}), ElementsAre(0, 1, 127));
  EXPECT_THAT(turned<float>(DType::kInt64, std::vector<std::int64_t>{(1 << 24) + 1, -5}, {Cast{DType::kFloat32}}),
              ElementsAre(16777216.0F, -5.0F));
  EXPECT_THAT(turned<std::uint8_t>(DType::kInt64, std::vector<std::int64_t>{0, 1}, {Cast{DType::kBool}}),
              ElementsAre(0, 1));
  EXPECT_THAT(
      turned<std::int32_t>(DType::kFloat32, std::vector<float>{1.9F, -1.9F, -2147483648.0F}, {Cast{DType::kInt32}}),
      ElementsAre(1, -1, INT32_MIN));
  EXPECT_THAT(turned<std::uint8_t>(DType::kFloat32, std::vector<float>{255.9F, -0.9F}, {Cast{DType::kUint8}}),
              ElementsAre(255, 0));
}

template <class From>
void expect_bad(DType from, const std::vector<From>& values, DType to, std::int64_t index) {
  const Result<TransformList> list =
      compile_transforms(numbers(from, {static_cast<std::int64_t>(values.size())}, {Cast{to}}));
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list->program.fallible());
  std::vector<std::uint8_t> out(values.size() * 8);
  TransformScratch scratch;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  const auto count = static_cast<std::int64_t>(values.size());
  const BadValue bad = list->program.run(bytes, out.data(), count, scratch);
  EXPECT_EQ(bad.index, index) << to_string(from) << " to " << to_string(to);
  EXPECT_EQ(list->program.check(bytes, count, scratch).index, index);
}

TEST(Transforms, RangesOfCasts) {
  using Ints = std::vector<std::int64_t>;
  expect_bad(DType::kInt64, Ints{0, 128}, DType::kInt8, 1);
  expect_bad(DType::kInt64, Ints{-128, -129}, DType::kInt8, 1);
  expect_bad(DType::kInt64, Ints{65535, 65536}, DType::kUint16, 1);
  expect_bad(DType::kInt64, Ints{INT32_MAX, std::int64_t{INT32_MAX} + 1}, DType::kInt32, 1);
  expect_bad(DType::kInt64, Ints{-1}, DType::kUint64, 0);
  expect_bad(DType::kInt64, Ints{0, 1, 2}, DType::kBool, 2);
  expect_bad(DType::kUint64, std::vector<std::uint64_t>{5, UINT64_MAX}, DType::kInt64, 1);
  using Floats = std::vector<float>;
  expect_bad(DType::kFloat32, Floats{255.9F, 256.0F}, DType::kUint8, 1);
  expect_bad(DType::kFloat32, Floats{-0.9F, -1.0F}, DType::kUint8, 1);
  expect_bad(DType::kFloat32, Floats{kNan}, DType::kInt64, 0);
  expect_bad(DType::kFloat32, Floats{-9223372036854775808.0F, 9223372036854775808.0F}, DType::kInt64, 1);
  expect_bad(DType::kFloat32, Floats{9223372036854775808.0F, 18446744073709551616.0F}, DType::kUint64, 1);
  expect_bad(DType::kFloat32, Floats{0, 0.5F}, DType::kBool, 1);
  expect_bad(DType::kFloat64, std::vector<double>{-2147483648.9, -2147483649.0}, DType::kInt32, 1);
  // In a long list the first one counts, wherever it stands.
  Ints many(5000, 7);
  many[4321] = 1 << 20;
  many[4999] = 1 << 20;
  expect_bad(DType::kInt64, many, DType::kInt16, 4321);
}

TEST(Transforms, EarliestValueCountsNotEarliestTransform) {
  const Result<TransformList> list =
      compile_transforms(numbers(DType::kInt64, {3}, {Cast{DType::kInt32}, Cast{DType::kInt8}}));
  ASSERT_TRUE(list.ok());
  const std::int64_t values[] = {1, 1000, std::int64_t{1} << 40};  // the second transform fails on the second value
  std::int8_t out[3];
  TransformScratch scratch;
  const BadValue bad = list->program.run(reinterpret_cast<const std::uint8_t*>(values),
                                         reinterpret_cast<std::uint8_t*>(out), 3, scratch);
  EXPECT_EQ(bad.index, 1);
  EXPECT_THAT(list->program.failure(numbers(DType::kInt64, {3}, {}), bad.op, 1).where().expected,
              HasSubstr("int8 (-128 to 127)"));
}

TEST(Transforms, Float16) {
  const std::vector<float> values = {1.0F,  -2.5F,   65504.0F, 65519.0F, 65520.0F, kInfinity, -kNan,
                                     6e-8F, 2.9e-8F, 6.1e-5F,  1.0F / 3, 2049.0F,  2051.0F,   -0.0F};
  EXPECT_THAT(turned<std::uint16_t>(DType::kFloat32, values, {Cast{DType::kFloat16}}),
              ElementsAre(0x3C00, 0xC100, 0x7BFF, 0x7BFF, 0x7C00, 0x7C00, 0xFE00, 0x0001, 0x0000, 0x03FF, 0x3555,
                          0x6800, 0x6802, 0x8000));
  // Every float16 there and back.
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_float16(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(to_float16(value), half) << bits;
    }
  }
}

TEST(Transforms, Bfloat16) {
  const std::vector<float> values = {1.0F,
                                     std::bit_cast<float>(0x3F808000U),
                                     std::bit_cast<float>(0x3F818000U),
                                     std::bit_cast<float>(0x3F808001U),
                                     kInfinity,
                                     -kNan,
                                     3.4e38F,
                                     3.39e38F};
  EXPECT_THAT(turned<std::uint16_t>(DType::kFloat32, values, {Cast{DType::kBfloat16}}),
              ElementsAre(0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7FC0, 0x7F80, 0x7F7F));
}

// Two transforms in one pass give what they give one after another; lengths around the width of a vector.
TEST(Transforms, PairsAreTheSameAsOneByOne) {
  for (const DType half : {DType::kFloat16, DType::kBfloat16}) {
    for (std::size_t count = 1; count < 40; ++count) {
      std::vector<float> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 0.37F - 3;
      for (const Transform& first : {Transform(Scale{{1.7}, {-0.3}}), Transform(Normalize{{0.1}, {0.7}})}) {
        const auto between = turned<float>(DType::kFloat32, values, {first});
        EXPECT_EQ(turned<std::uint16_t>(DType::kFloat32, values, {first, Cast{half}}),
                  turned<std::uint16_t>(DType::kFloat32, between, {Cast{half}}));
      }
    }
  }
}

TEST(Transforms, Ids) {
  EXPECT_THAT(
      turned<std::int32_t>(DType::kFloat32, std::vector<float>{-1, 0, 0.5F, 1, 9, kNan}, {Bucketize{{0, 1, 1, 5}}}),
      ElementsAre(0, 1, 1, 3, 4, 4));
  // Whole numbers are compared as float32, as TensorFlow does: 16777219 is 16777220 then.
  EXPECT_THAT(
      turned<std::int32_t>(DType::kInt64, std::vector<std::int64_t>{16777219, 16777217}, {Bucketize{{16777220.0F}}}),
      ElementsAre(1, 0));
  std::vector<float> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  EXPECT_THAT(turned<std::int32_t>(DType::kFloat32, std::vector<float>{-1, 0, 50.5F, 99, kNan}, {Bucketize{many}}),
              ElementsAre(0, 1, 51, 100, 100));
  EXPECT_THAT(turned<float>(DType::kInt64, std::vector<std::int64_t>{1, -1, 3, 0}, {OneHot{.depth = 3}}),
              ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0));
  EXPECT_THAT(turned<std::uint8_t>(DType::kInt64, std::vector<std::int64_t>{1}, {OneHot{2, DType::kBool}}),
              ElementsAre(0, 1));
  EXPECT_THAT(turned<std::int64_t>(DType::kInt64, std::vector<std::int64_t>{7, -7, -5, 0, INT64_MIN}, {Mod{5}}),
              ElementsAre(2, 3, 0, 0, 2));
  EXPECT_THAT(turned<std::uint8_t>(DType::kUint8, std::vector<std::uint8_t>{255, 5}, {Mod{200}}), ElementsAre(55, 5));
  EXPECT_THAT(
      turned<std::int64_t>(DType::kInt64, std::vector<std::int64_t>{30, 5, 10}, {Lookup{.integers = {10, 20, 30}}}),
      ElementsAre(2, -1, 0));
  using Views = std::vector<std::string_view>;
  EXPECT_THAT(turned<std::int64_t>(DType::kBytes, Views{"b", "", "zz"}, {Lookup{.strings = {"a", "b", ""}, .oov = 9}}),
              ElementsAre(1, 2, 9));
  EXPECT_THAT(turned<std::int64_t>(DType::kBytes, Views{""}, {HashBucket{1000}}),
              ElementsAre(static_cast<std::int64_t>(0x9AE16A3B2F90404FULL % 1000)));
  EXPECT_EQ(turned<std::int64_t>(DType::kBytes, Views{"-12"}, {HashBucket{97}}),
            turned<std::int64_t>(DType::kInt64, std::vector<std::int64_t>{-12}, {HashBucket{97}}));
}

TEST(Transforms, WhatIsRefused) {
  const auto refused = [](DType dtype, std::vector<Transform> transforms) {
    return refusal(numbers(dtype, {2}, std::move(transforms)));
  };
  EXPECT_EQ(refused(DType::kInt64, {Scale{}}),
            "feature \"a\": transform[0], scale: takes float32 or float64, the values are int64 here");
  EXPECT_THAT(refused(DType::kFloat32, {Log1p{}, OneHot{3}}), HasSubstr("transform[1], one_hot: takes whole numbers"));
  EXPECT_THAT(refused(DType::kInt64, {OneHot{3}, Cast{DType::kInt8}}), HasSubstr("must be the last"));
  EXPECT_THAT(refused(DType::kInt64, {OneHot{0}}), HasSubstr("depth is 0"));
  EXPECT_THAT(refused(DType::kInt64, {Cast{DType::kBytes}}), HasSubstr("no cast to bytes"));
  EXPECT_THAT(refused(DType::kBytes, {Cast{DType::kInt64}}), HasSubstr("takes numbers"));
  EXPECT_THAT(refused(DType::kFloat32, {Scale{{1, 2, 3}, {0}}}), HasSubstr("mul has 3 values, expected 1 or 2"));
  EXPECT_THAT(refused(DType::kFloat32, {Normalize{{0}, {0}}}), HasSubstr("std"));
  EXPECT_THAT(refused(DType::kInt64, {Clip{0.5, std::int64_t{1}}}), HasSubstr("lo must be a whole number"));
  EXPECT_THAT(refused(DType::kInt64, {Clip{std::int64_t{2}, std::int64_t{1}}}), HasSubstr("above"));
  EXPECT_THAT(refused(DType::kFloat32, {Bucketize{{2, 1}}}), HasSubstr("not in order"));
  EXPECT_THAT(refused(DType::kInt64, {Mod{0}}), HasSubstr("at least 1"));
  EXPECT_THAT(refused(DType::kBytes, {Lookup{.strings = {"a", "b", "a"}}}), HasSubstr("entry 2"));
  EXPECT_THAT(refused(DType::kInt64, {Lookup{.strings = {"a"}}}), HasSubstr("whole numbers"));
  EXPECT_THAT(refused(DType::kInt64, {Truncate{2}}), HasSubstr("must vary"));
  Feature list = numbers(DType::kInt64, {}, {Pad{3}, Truncate{2}});
  list.kind = FeatureKind::kVarLen;
  EXPECT_THAT(refusal(list), HasSubstr("padded before"));
  list.transforms = {Cast{DType::kInt8}, Pad{3, std::int64_t{128}}};
  EXPECT_THAT(refusal(list), HasSubstr("does not fit int8"));
  list.transforms = {Pad{3, std::int64_t{300}}, Cast{DType::kInt8}};
  EXPECT_THAT(refusal(list), HasSubstr("the padding cannot be transformed: expected int8"));
}

TEST(Transforms, DefaultsMustPass) {
  Feature feature = numbers(DType::kInt64, {}, {Cast{DType::kUint8}});
  feature.has_default = true;
  feature.default_numeric = {0x2C, 0x01, 0, 0, 0, 0, 0, 0};  // 300
  EXPECT_THAT(refusal(feature), HasSubstr("default_value cannot be transformed: expected uint8 (0 to 255)"));
  feature.default_numeric[1] = 0;
  EXPECT_EQ(refusal(feature), "");
}

TEST(Transforms, TypeOfTheColumn) {
  Feature feature = numbers(DType::kBytes, {2}, {HashBucket{10}, OneHot{10, DType::kInt8}});
  Result<ColumnType> type = column_type(feature);
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(type->dtype, DType::kInt8);
  EXPECT_THAT(type->shape, ElementsAre(2, 10));
  feature = numbers(DType::kInt64, {}, {Truncate{3}, Pad{5}});
  feature.kind = FeatureKind::kVarLen;
  type = column_type(feature);
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(type->limit, 3);
  EXPECT_EQ(type->padded_to, 5);
  feature = numbers(DType::kInt64, {std::int64_t{1} << 40}, {OneHot{1 << 24, DType::kFloat64}});
  EXPECT_THAT(column_type(feature).status().message(), HasSubstr("too many elements"));
}

}  // namespace
}  // namespace headrace

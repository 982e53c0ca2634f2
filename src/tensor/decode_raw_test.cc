// decode_raw() on the caller's bytes. Values are written by hand; tests/python compares with TensorFlow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Column> decode(std::vector<std::string_view> bytes, const DecodeRawOptions& options, int threads = 1) {
  return decode_raw(bytes, options, threads);
}

TEST(DecodeRaw, BothByteOrders) {
  const auto little = decode({{"\1\0\2\0", 4}, {"\3\0\4\0", 4}}, {.dtype = DType::kInt16});
  ASSERT_TRUE(little.ok());
  EXPECT_THAT(little->values.shape, ElementsAre(2, 2));
  EXPECT_THAT(values_of<std::int16_t>(little->values), ElementsAre(1, 2, 3, 4));
  const auto big = decode({{"\0\1\0\2", 4}}, {.dtype = DType::kInt16, .little_endian = false});
  ASSERT_TRUE(big.ok());
  EXPECT_THAT(values_of<std::int16_t>(big->values), ElementsAre(1, 2));
}

TEST(DecodeRaw, HalvesOfComplexNumbersAreSwappedByThemselves) {
  const auto column = decode({{"\x3F\x80\0\0\x40\0\0\0", 8}}, {.dtype = DType::kComplex64, .little_endian = false});
  ASSERT_TRUE(column.ok());
  EXPECT_THAT(column->values.shape, ElementsAre(1, 1));
  Tensor halves = column->values;
  halves.dtype = DType::kFloat32;
  halves.shape = {2};
  EXPECT_THAT(values_of<float>(halves), ElementsAre(1.0F, 2.0F));
}

TEST(DecodeRaw, FixedLengthCutsAndFills) {
  const DecodeRawOptions options = {.dtype = DType::kUint16, .little_endian = false, .fixed_length = 4};
  const auto column = decode({{"\1\2\3\4\5", 5}, {"\1\2\3", 3}, {"", 0}}, options);
  ASSERT_TRUE(column.ok());
  EXPECT_THAT(column->values.shape, ElementsAre(3, 2));
  EXPECT_THAT(values_of<std::uint16_t>(column->values), ElementsAre(0x0102, 0x0304, 0x0102, 0x0300, 0, 0));
}

TEST(DecodeRaw, AnyByteButZeroIsTrue) {
  const auto column = decode({{"\0\1\2\xFF", 4}}, {.dtype = DType::kBool});
  ASSERT_TRUE(column.ok());
  EXPECT_THAT(values_of<std::uint8_t>(column->values), ElementsAre(0, 1, 1, 1));
}

TEST(DecodeRaw, NothingHasNoElements) {
  EXPECT_THAT(decode({}, {.dtype = DType::kInt32})->values.shape, ElementsAre(0, 0));
  EXPECT_THAT(decode({"", ""}, {.dtype = DType::kInt32})->values.shape, ElementsAre(2, 0));
  EXPECT_THAT(decode({}, {.dtype = DType::kInt32, .fixed_length = 8})->values.shape, ElementsAre(0, 2));
}

TEST(DecodeRaw, AnyNumberOfThreads) {
  std::string memory(1000 * 4, '\0');
  std::vector<std::string_view> views;
  std::vector<std::int32_t> wanted;
  for (int i = 0; i < 1000; ++i) {
    const std::int32_t value = i * 7919;
    wanted.push_back(value);
    std::memcpy(memory.data() + i * 4, &value, 4);
    views.push_back(std::string_view(memory).substr(static_cast<std::size_t>(i) * 4, 4));
  }
  for (const int threads : {1, 3, 100}) {
    EXPECT_EQ(values_of<std::int32_t>(decode(views, {.dtype = DType::kInt32}, threads)->values), wanted);
  }
}

TEST(DecodeRaw, WhatIsRefused) {
  const Status odd = decode({"abc"}, {.dtype = DType::kInt16}).status();
  EXPECT_EQ(odd.code(), StatusCode::kSchemaMismatch);
  EXPECT_THAT(odd.message(), HasSubstr("length 3 that is not a multiple of 2, the size of int16"));
  const Status uneven = decode({"ab", "ab", "abcd"}, {.dtype = DType::kInt16}).status();
  EXPECT_EQ(uneven.code(), StatusCode::kSchemaMismatch);
  EXPECT_THAT(uneven.message(), HasSubstr("element 2 has size 4 != 2"));
  EXPECT_EQ(uneven.where().row, 2);
  for (const std::int64_t length : {-2, 0, 5}) {
    const Status status = decode({"ab"}, {.dtype = DType::kInt16, .fixed_length = length}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("fixed_length (" + std::to_string(length) + ")"));
  }
  EXPECT_EQ(decode({"ab"}, {.dtype = DType::kBytes}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(decode({"ab"}, {.dtype = DType::kInt16}, 0).status().code(), StatusCode::kInvalidArgument);
  const Status huge = decode({"", ""}, {.dtype = DType::kInt8, .fixed_length = std::int64_t{1} << 62}).status();
  EXPECT_EQ(huge.code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace headrace::testing

#include "base/varints.h"

#include <gtest/gtest.h>

#include <limits>

namespace headrace {
namespace {

TEST(Varints, ReadWhatWasPut) {
  const std::vector<std::uint64_t> values = {0, 1, 127, 128, 300, std::numeric_limits<std::uint64_t>::max()};
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t value : values) put_varint(value, &bytes);
  EXPECT_EQ(bytes.size(), 1U + 1 + 1 + 2 + 2 + 10);
  VarintReader in(bytes);
  for (const std::uint64_t value : values) EXPECT_EQ(in.get(), value);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.left(), 0U);
}

TEST(Varints, ZigzagKeepsSmallNumbersSmall) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  EXPECT_EQ(zigzag(word(0)), 0U);
  EXPECT_EQ(zigzag(word(-1)), 1U);
  EXPECT_EQ(zigzag(word(1)), 2U);
  for (const std::int64_t value : {std::int64_t{-2}, std::numeric_limits<std::int64_t>::min(), INT64_MAX}) {
    EXPECT_EQ(unzigzag(zigzag(word(value))), word(value));
  }
}

TEST(Varints, WhatIsMissingIsZeroFromThenOn) {
  const std::vector<std::uint8_t> cut = {5, 0x80};
  VarintReader in(cut);
  EXPECT_EQ(in.get(), 5U);
  EXPECT_EQ(in.get(), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.count(), 0U);
  EXPECT_TRUE(in.take(0).empty());
}

TEST(Varints, ACountFitsIntoWhatIsLeft) {
  const std::vector<std::uint8_t> bytes = {2, 1, 2, 3, 4};
  EXPECT_EQ(VarintReader(bytes).count(2), 2U);
  VarintReader in(bytes);
  EXPECT_EQ(in.count(3), 0U);
  EXPECT_FALSE(in.ok());
}

TEST(Varints, TakesNoMoreThanThereIs) {
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  VarintReader in(bytes);
  EXPECT_EQ(in.take(2).size(), 2U);
  EXPECT_EQ(in.left(), 1U);
  EXPECT_TRUE(in.take(2).empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.left(), 1U);
}

}  // namespace
}  // namespace headrace

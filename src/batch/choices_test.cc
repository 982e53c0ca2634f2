#include "batch/choices.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

std::vector<std::uint32_t> first(Choices& choices, std::uint64_t epoch, std::uint64_t count) {
  choices.begin_epoch(epoch);
  std::vector<std::uint32_t> inputs;
  for (std::uint64_t p = 0; p < count; ++p) inputs.push_back(choices.at(p));
  return inputs;
}

TEST(Choices, APatternIsTakenAgainFromItsStart) {
  Choices choices({.pattern = {2, 0, 0}});
  EXPECT_EQ(first(choices, 5, 7), (std::vector<std::uint32_t>{2, 0, 0, 2, 0, 0, 2}));
  EXPECT_TRUE(choices.has(0));
  EXPECT_FALSE(choices.has(1));
}

TEST(Choices, WeightsAreProbabilities) {
  Choices choices({.weights = {3, 0, 5, 2}, .seed = 42});
  std::int64_t counts[4] = {};
  for (const std::uint32_t input : first(choices, 0, 100'000)) ++counts[input];
  // Six standard deviations of a binomial of 100,000.
  EXPECT_NEAR(counts[0], 30'000, 870);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 50'000, 950);
  EXPECT_NEAR(counts[3], 20'000, 760);
  EXPECT_FALSE(choices.has(1));
  EXPECT_TRUE(choices.has(3));
}

TEST(Choices, TheLastInputOfNoWeightIsNeverTaken) {
  Choices choices({.weights = {1e-300, 0}, .seed = 1});
  for (const std::uint32_t input : first(choices, 0, 1000)) EXPECT_EQ(input, 0U);
}

// The stream of version 1: these numbers never change.
TEST(Choices, SeedAndEpochDecide) {
  Choices same({.weights = {1, 1, 1}, .seed = 7});
  Choices other({.weights = {1, 1, 1}, .seed = 7, .rerandomize_each_iteration = true});
  const auto sequence = first(same, 0, 12);
  EXPECT_EQ(sequence, (std::vector<std::uint32_t>{2, 0, 2, 1, 1, 0, 2, 0, 0, 1, 0, 1}));
  EXPECT_EQ(first(same, 9, 12), sequence);
  EXPECT_EQ(first(other, 0, 12), sequence);
  EXPECT_NE(first(other, 9, 12), sequence);
}

}  // namespace
}  // namespace headrace

#include "base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace headrace {
namespace {

// Part of stream_version 1: a change of these values changes every shuffled stream.
TEST(Random, ValuesAreFrozen) {
  EXPECT_EQ(random_key(42, 0), random_key(42, 0));
  EXPECT_EQ(random_u64(random_key(42, 0), 0), 16845348184505324811ULL);
  EXPECT_EQ(random_u64(random_key(42, 1), 12345), 14387787312301095669ULL);
  EXPECT_EQ(random_below(random_key(7, 3), 9, 2000), 165ULL);
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  const std::uint64_t key = random_key(1, 2);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) seen.insert(random_below(key, i, 10));
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(*seen.rbegin(), 9U);
  EXPECT_EQ(random_below(key, 5, 1), 0U);
}

// Chi-square over 64 cells: 63 degrees of freedom, the 99.99 % point is about 115.
TEST(Random, IsUniform) {
  constexpr int kDraws = 64000;
  for (const std::uint64_t seed : {0ULL, 1ULL, ~0ULL}) {
    std::vector<int> cells(64, 0);
    const std::uint64_t key = random_key(seed, 0);
    for (int i = 0; i < kDraws; ++i) ++cells[random_below(key, static_cast<std::uint64_t>(i), 64)];
    double chi_square = 0;
    for (const int count : cells) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 115);
  }
}

TEST(Random, StreamsDiffer) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) firsts.insert(random_u64(random_key(42, stream), 0));
  EXPECT_EQ(firsts.size(), 1000U);
}

}  // namespace
}  // namespace headrace

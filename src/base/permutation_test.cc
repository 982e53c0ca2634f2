// The keyed permutation: a bijection for every size, orders that look like random ones, and values that stay.
#include "base/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace headrace {
namespace {

std::vector<std::uint64_t> order(std::uint64_t n, std::uint64_t key) {
  const KeyedPermutation permutation(n, key);
  std::vector<std::uint64_t> numbers(n);
  for (std::uint64_t i = 0; i < n; ++i) numbers[i] = permutation(i);
  return numbers;
}

void expect_all(std::vector<std::uint64_t> numbers) {
  std::vector<std::uint64_t> wanted(numbers.size());
  std::iota(wanted.begin(), wanted.end(), std::uint64_t{0});
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, wanted) << "of " << numbers.size();
}

TEST(KeyedPermutation, EveryNumberComesOnceWhateverTheSizeAndTheKey) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    for (std::uint64_t key = 0; key < 7; ++key) expect_all(order(n, key));
  }
  for (const std::uint64_t n : {1023, 1024, 1025, 65535, 65536, 65537, 99991, 1'000'003}) expect_all(order(n, n));
}

TEST(KeyedPermutation, LargeSizesStayInside) {
  for (const std::uint64_t n : {(std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 40, (std::uint64_t{1} << 62) - 5}) {
    const KeyedPermutation permutation(n, 3);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 1000; ++i) numbers.push_back(permutation(n - 1 - i * (n / 1000)));
    EXPECT_LT(*std::max_element(numbers.begin(), numbers.end()), n);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
}

// Pearson's statistic of counts that are all expected to be `expected`.
double chi_square(const std::vector<std::int64_t>& counts, double expected) {
  double sum = 0;
  for (const std::int64_t count : counts) {
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  }
  return sum;
}

TEST(KeyedPermutation, EveryOrderOfFewNumbersComesAsOften) {
  constexpr int kKeys = 120'000;
  std::map<std::vector<std::uint64_t>, std::int64_t> seen;
  for (int key = 0; key < kKeys; ++key) ++seen[order(5, random_key(1, key))];
  ASSERT_EQ(seen.size(), 120U);
  std::vector<std::int64_t> counts;
  for (const auto& [numbers, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square(counts, kKeys / 120.0), 119 + 5 * 15.4) << "119 degrees of freedom, five standard deviations";
}

TEST(KeyedPermutation, EveryPlaceGetsEveryNumberAsOften) {
  constexpr std::uint64_t kNumbers = 37;
  constexpr int kKeys = 37'000;
  std::vector<std::int64_t> counts(kNumbers * kNumbers);
  for (int key = 0; key < kKeys; ++key) {
    const std::vector<std::uint64_t> numbers = order(kNumbers, random_key(2, key));
    for (std::uint64_t i = 0; i < kNumbers; ++i) ++counts[i * kNumbers + numbers[i]];
  }
  // 36 * 36 degrees of freedom.
  EXPECT_LT(chi_square(counts, kKeys / 37.0), 1296 + 5 * 51.0);
}

TEST(KeyedPermutation, NeighboursEndUpAnywhere) {
  constexpr std::uint64_t kNumbers = 50'021;
  constexpr std::size_t kBins = 50;
  std::vector<std::int64_t> distances(kBins);
  std::int64_t ascending = 0;
  for (std::uint64_t key = 0; key < 20; ++key) {
    const std::vector<std::uint64_t> numbers = order(kNumbers, random_key(3, key));
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const std::uint64_t distance = (numbers[i + 1] + kNumbers - numbers[i]) % kNumbers;  // 1 … n - 1, all alike
      ++distances[(distance - 1) * kBins / (kNumbers - 1)];
      ascending += numbers[i + 1] > numbers[i] ? 1 : 0;
    }
  }
  EXPECT_LT(chi_square(distances, 20.0 * (kNumbers - 1) / kBins), 49 + 5 * 9.9);
  EXPECT_NEAR(static_cast<double>(ascending), 10.0 * kNumbers, 5 * 300);
}

TEST(KeyedPermutation, TheValuesAreFrozen) {
  EXPECT_EQ(order(10, 42), (std::vector<std::uint64_t>{4, 7, 2, 6, 5, 3, 0, 8, 1, 9}));
  EXPECT_EQ(KeyedPermutation(1'281'167, 7)(1000), 677'210U);
  EXPECT_EQ(KeyedPermutation(std::uint64_t{1} << 40, 7)(1000), 259'782'320'309U);
}

}  // namespace
}  // namespace headrace

// KeyedPermutation: the numbers 0 … n - 1 in an order that a key selects, without a list of them.
//
// A Feistel network permutes the numbers of as many bits as n - 1 has; one that falls outside is permuted again until it does
// not (cycle walking; from 128 numbers on less than twice on average). The order of any place is had at once, and there is no state.
// Part of the frozen stream (`stream_version` 1): never change the values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/random.h"

namespace headrace {

class KeyedPermutation {
 public:
  /// n >= 1.
  KeyedPermutation(std::uint64_t n, std::uint64_t key) : n_(n) {
    const int bits = std::max(kLeastBits, static_cast<int>(std::bit_width(n - 1)));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    for (int round = 0; round < kRounds; ++round) {
      add_[round] = random_u64(key, 2 * static_cast<std::uint64_t>(round));
      multiply_[round] = random_u64(key, 2 * static_cast<std::uint64_t>(round) + 1) | 1;
    }
  }

  /// What stands at `place` (< n). Different places give different numbers.
  std::uint64_t operator()(std::uint64_t place) const {
    do {
      place = permute(place);
    } while (place >= n_);
    return place;
  }

  std::uint64_t size() const { return n_; }

 private:
  static constexpr int kRounds = 6;
  static constexpr int kLeastBits = 8;  // halves of fewer bits do not reach every order of a few numbers as often

  // Each half in turn is changed by a function of the other one, which can be undone whatever the function is.
  std::uint64_t permute(std::uint64_t x) const {
    std::uint64_t low = x & low_mask_;
    std::uint64_t high = x >> low_bits_;
    for (int round = 0; round < kRounds; round += 2) {
      low ^= mixed(high, round) & low_mask_;
      high ^= mixed(low, round + 1) & high_mask_;
    }
    return high << low_bits_ | low;
  }

  /// All 128 bits of a product, folded: one multiplication mixes as well as two shorter ones.
  std::uint64_t mixed(std::uint64_t half, int round) const {
    const auto product = static_cast<unsigned __int128>(half ^ add_[round]) * multiply_[round];
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  std::uint64_t n_;
  int low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::uint64_t add_[kRounds];
  std::uint64_t multiply_[kRounds];
};

}  // namespace headrace

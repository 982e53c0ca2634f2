// What the continuation bits of 64 bytes tell of the varints in them. For the kernels of packed_varints.h; in line, no state
// but that of the run that is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

constexpr std::size_t kVarintBlock = 64;

/// The lowest `bytes` bits, all for 64 and more.
inline std::uint64_t bits_below(std::size_t bytes) {
  return bytes >= kVarintBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
}

/// Lengths of varints from the continuation bits of one block after the other, over the borders between them.
class ContinuationRuns {
 public:
  /// The next block. False: a varint is longer than 10 bytes, which none may be.
  bool add(std::uint64_t continuation) {
    const std::uint64_t run2 = continuation & shifted(continuation, last_, 1);
    const std::uint64_t run4 = run2 & shifted(run2, last2_, 2);
    const std::uint64_t run8 = run4 & shifted(run4, last4_, 4);
    const std::uint64_t run10 = run8 & shifted(run2, last2_, 8);
    // The last byte of a varint may be the first of this block.
    three_bytes_ = run2 | last2_ >> 63;
    nine_bytes_ = run8 | last8_ >> 63;
    last_ = continuation;
    last2_ = run2;
    last4_ = run4;
    last8_ = run8;
    return run10 == 0;
  }

  /// Whether a varint in the last block, or on its borders, may have three bytes or more; nine or more.
  bool has_three_bytes() const { return three_bytes_ != 0; }
  bool has_nine_bytes() const { return nine_bytes_ != 0; }

 private:
  static std::uint64_t shifted(std::uint64_t bits, std::uint64_t before, int by) {
    return bits << by | before >> (64 - by);
  }

  // Bit i: the byte and the 1, 3, 7 before it have their continuation bit.
  std::uint64_t last_ = 0;
  std::uint64_t last2_ = 0;
  std::uint64_t last4_ = 0;
  std::uint64_t last8_ = 0;
  std::uint64_t three_bytes_ = 0;
  std::uint64_t nine_bytes_ = 0;
};

}  // namespace headrace

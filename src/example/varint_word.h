// Joins the 7-bit groups of varints of up to 8 bytes that were loaded as one word: no loop, no branch on the length.
//
// The word is read whole, whatever lies behind the varint is masked away; two multiply-adds join neighbouring groups
// (7 + 7 to 14 bits, 14 + 14 to 28), which leaves two halves of 28 bits. Pure, in line.
#pragma once

#include <array>
#include <cstdint>

#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

namespace headrace {

/// By number of bytes, 0 to 8: the bits of the groups, and the continuation bits.
struct VarintMasks {
  std::array<std::uint64_t, 9> groups = {};
  std::array<std::uint64_t, 9> continuation = {};

  constexpr VarintMasks() {
    for (unsigned bytes = 1; bytes <= 8; ++bytes) {
      groups[bytes] = 0x7F7F7F7F7F7F7F7FULL >> (64 - 8 * bytes);
      continuation[bytes] = 0x8080808080808080ULL >> (64 - 8 * bytes);
    }
  }
};
inline constexpr VarintMasks kVarintMasks;

/// The value of a varint of `bytes` (1 to 8) bytes at the front of `word`.
inline std::uint64_t join_varint_groups(std::uint64_t word, unsigned bytes) {
  std::uint64_t v = word & kVarintMasks.groups[bytes];
#if defined(__SSSE3__)
  __m128i x = _mm_cvtsi64_si128(static_cast<long long>(v));
  x = _mm_maddubs_epi16(_mm_set1_epi16(static_cast<short>(0x8001)), x);
  x = _mm_madd_epi16(x, _mm_set1_epi32(0x40000001));
  v = static_cast<std::uint64_t>(_mm_cvtsi128_si64(x));
  return static_cast<std::uint32_t>(v) | v >> 32 << 28;
#else
  v = (v & 0x007F007F007F007FULL) | ((v & 0x7F007F007F007F00ULL) >> 1);
  v = (v & 0x00003FFF00003FFFULL) | ((v & 0x3FFF00003FFF0000ULL) >> 2);
  return (v & 0x000000000FFFFFFFULL) | ((v & 0x0FFFFFFF00000000ULL) >> 4);
#endif
}

/// The same for two at once: writes both values to `out`.
inline void join_two_varints(std::uint64_t word0, unsigned bytes0, std::uint64_t word1, unsigned bytes1,
                             std::int64_t* out) {
#if defined(__SSSE3__)
  __m128i x = _mm_set_epi64x(static_cast<long long>(word1 & kVarintMasks.groups[bytes1]),
                             static_cast<long long>(word0 & kVarintMasks.groups[bytes0]));
  x = _mm_maddubs_epi16(_mm_set1_epi16(static_cast<short>(0x8001)), x);
  x = _mm_madd_epi16(x, _mm_set1_epi32(0x40000001));
  const __m128i low_half = _mm_set1_epi64x(0xFFFFFFFF);
  x = _mm_or_si128(_mm_and_si128(x, low_half), _mm_srli_epi64(_mm_andnot_si128(low_half, x), 4));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), x);
#else
  out[0] = static_cast<std::int64_t>(join_varint_groups(word0, bytes0));
  out[1] = static_cast<std::int64_t>(join_varint_groups(word1, bytes1));
#endif
}

}  // namespace headrace

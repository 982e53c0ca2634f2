// Packed varints with AVX2 and BMI2: PEXT joins the groups of a varint in one instruction; varints of one and two bytes are
// joined sixteen places at a time and pushed together by a table.
#include "example/packed_varints.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "base/wire.h"
#include "example/varint_block.h"
#include "example/varint_word.h"
#endif

namespace headrace {

#if defined(__x86_64__)
namespace {

constexpr std::int64_t kOctet = 8;

// By length, from 10 down to 0: the groups' bits in the first 8 bytes, and in the two behind them. Of the tenth byte one bit
// counts.
constexpr std::size_t kLongest = 10;
constexpr std::array<std::uint64_t, kLongest + 1> kLowGroups = [] {
  std::array<std::uint64_t, kLongest + 1> groups{};
  for (std::size_t bytes = 0; bytes <= kLongest; ++bytes) {
    groups[kLongest - bytes] = kVarintMasks.groups[std::min<std::size_t>(bytes, 8)];
  }
  return groups;
}();
constexpr std::array<std::uint64_t, kLongest + 1> kHighGroups = {0x17F, 0x7F};

// By 8 bits, which say in which of eight 16-bit words a value ends: moves those words to the front.
constexpr auto kPushTogether = [] {
  std::array<std::array<std::uint8_t, 16>, 256> places{};
  for (std::size_t bits = 0; bits < places.size(); ++bits) {
    std::size_t to = 0;
    for (std::size_t word = 0; word < 8; ++word) {
      if ((bits >> word & 1) == 0) continue;
      places[bits][to++] = static_cast<std::uint8_t>(2 * word);
      places[bits][to++] = static_cast<std::uint8_t>(2 * word + 1);
    }
  }
  return places;
}();

__attribute__((target("avx2"))) inline std::uint64_t continuation_bits(const std::uint8_t* block) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block) + 1);
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
         std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32;
}

// A block of single bytes.
__attribute__((target("avx2"))) inline void widen_bytes(const std::uint8_t* block, std::int64_t* to) {
  for (std::size_t i = 0; i < kVarintBlock; i += 4) {
    const __m128i bytes = _mm_cvtsi32_si128(static_cast<int>(load_u32(block + i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_cvtepu8_epi64(bytes));
  }
}

// A block whose varints have one or two bytes. Writes up to kOctet numbers behind the last value.
__attribute__((target("avx2,popcnt"))) inline void join_pairs(const std::uint8_t* block, bool is_first,
                                                              std::uint64_t ends, std::int64_t* to) {
  const auto* from = reinterpret_cast<const __m128i*>(block);
  __m128i before = is_first ? _mm_setzero_si128() : _mm_loadu_si128(from - 1);
  for (std::size_t i = 0; i < kVarintBlock / 16; ++i) {
    const __m128i bytes = _mm_loadu_si128(from + i);
    // Each byte beside the one before it: what is continued by it are the low 7 bits.
    const __m256i upper = _mm256_cvtepu8_epi16(bytes);
    const __m256i lower = _mm256_cvtepu8_epi16(_mm_alignr_epi8(bytes, before, 15));
    const __m256i is_pair = _mm256_cmpgt_epi16(lower, _mm256_set1_epi16(0x7F));
    // upper * 128 + lower - 128 in place of upper.
    const __m256i joined =
        _mm256_sub_epi16(_mm256_add_epi16(_mm256_slli_epi16(upper, 7), lower), _mm256_set1_epi16(128));
    const __m256i words = _mm256_blendv_epi8(upper, joined, is_pair);
    before = bytes;
    for (int half = 0; half < 2; ++half, ends >>= 8) {
      const __m128i eight = half == 0 ? _mm256_castsi256_si128(words) : _mm256_extracti128_si256(words, 1);
      const std::uint64_t bits = ends & 0xFF;
      const __m128i places = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPushTogether[bits].data()));
      const __m128i front = _mm_shuffle_epi8(eight, places);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepu16_epi64(front));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, _mm256_cvtepu16_epi64(_mm_unpackhi_epi64(front, front)));
      to += __builtin_popcountll(bits);
    }
  }
}

// Where the loop over a block's varints is: `ends` has a bit for the last byte of each that is left, `before` is the place of
// the last byte of the one before, negative when that lies in an earlier block.
struct Place {
  std::uint64_t ends;
  std::ptrdiff_t before;
};

// The next varint; kLong: it may have more than 8 bytes.
template <bool kLong>
__attribute__((target("bmi,bmi2"))) inline std::int64_t extract(const std::uint8_t* block, Place& place) {
  const auto end = static_cast<std::ptrdiff_t>(_tzcnt_u64(place.ends));
  place.ends = _blsr_u64(place.ends);
  const std::uint8_t* start = block + place.before + 1;
  const auto missing = static_cast<std::size_t>(place.before - end + static_cast<std::ptrdiff_t>(kLongest));
  place.before = end;
  std::uint64_t value = _pext_u64(load_u64(start), kLowGroups[missing]);
  if constexpr (kLong) value |= _pext_u64(load_u64(start + 8), kHighGroups[missing]) << 56;
  return static_cast<std::int64_t>(value);
}

// All of a block's, `count` of them; the first begins at `start`.
template <bool kLong>
__attribute__((target("bmi,bmi2"))) inline void extract_all(const std::uint8_t* start, const std::uint8_t* block,
                                                            std::uint64_t ends, std::int64_t count, std::int64_t* to) {
  Place place{ends, start - block - 1};
  for (; count >= 4; count -= 4, to += 4) {
    to[0] = extract<kLong>(block, place);
    to[1] = extract<kLong>(block, place);
    to[2] = extract<kLong>(block, place);
    to[3] = extract<kLong>(block, place);
  }
  for (; count > 0; --count) *to++ = extract<kLong>(block, place);
}

__attribute__((target("avx2,bmi,bmi2,popcnt"))) std::int64_t decode(const std::uint8_t* data, std::size_t size,
                                                                    std::int64_t* out, std::int64_t capacity) {
  if (size == 0) return 0;
  if (data[size - 1] >= 0x80) return -1;
  ContinuationRuns runs;
  std::int64_t count = 0;
  const std::uint8_t* start = data;  // of the varint that is written next; may lie in the block before
  for (std::size_t at = 0; at < size; at += kVarintBlock) {
    const std::uint8_t* block = data + at;
    const std::uint64_t inside = bits_below(size - at);
    const std::uint64_t continuation = continuation_bits(block) & inside;
    if (!runs.add(continuation)) return -1;
    std::uint64_t ends = ~continuation & inside;
    const std::int64_t ending = __builtin_popcountll(ends);
    const std::int64_t room = capacity - count;
    count += ending;
    if (room <= 0) continue;
    std::int64_t* to = out + (capacity - room);
    if (room < ending) ends = _pdep_u64(bits_below(static_cast<std::size_t>(room)), ends);  // the first `room` of them
    if (~ends == 0 && start == block) {
      widen_bytes(block, to);
    } else if (!runs.has_three_bytes() && room >= ending + kOctet) {
      join_pairs(block, at == 0, ends, to);
    } else if (!runs.has_nine_bytes()) {
      extract_all<false>(start, block, ends, std::min(ending, room), to);
    } else {
      extract_all<true>(start, block, ends, std::min(ending, room), to);
    }
    start = block + kVarintBlock - __builtin_clzll(ends);
  }
  return count;
}

}  // namespace

VarintKernel packed_varints_bmi2_kernel() { return decode; }
#else
VarintKernel packed_varints_bmi2_kernel() { return nullptr; }
#endif

}  // namespace headrace

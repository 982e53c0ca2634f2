#include "image/byte_resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

constexpr int kFractionBits = 7;
constexpr int kWeightBits = 14;
constexpr int kShift = kFractionBits + kWeightBits;
constexpr std::int32_t kHalf = 1 << (kShift - 1);

// a * b / 2^15, rounded: the form that compilers know as one instruction.
[[gnu::always_inline]] inline std::int16_t multiply(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>((((std::int32_t{a} * b) >> 14) + 1) >> 1);
}

[[gnu::always_inline]] inline void rows_loop(const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
                                             std::int16_t weight, std::int64_t elements, std::int16_t* __restrict to) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto difference = static_cast<std::int16_t>((b[i] - a[i]) << kFractionBits);
    to[i] = static_cast<std::int16_t>((a[i] << kFractionBits) + multiply(difference, weight));
  }
}

using RowsKernel = void (*)(const std::uint8_t*, const std::uint8_t*, std::int16_t, std::int64_t, std::int16_t*);
using ColumnsKernel = void (*)(const ByteColumns&, std::uint8_t*);

void rows_baseline(const std::uint8_t* a, const std::uint8_t* b, std::int16_t weight, std::int64_t elements,
                   std::int16_t* to) {
  rows_loop(a, b, weight, elements, to);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void rows_avx2(const std::uint8_t* a, const std::uint8_t* b, std::int16_t weight,
                                               std::int64_t elements, std::int16_t* to) {
  rows_loop(a, b, weight, elements, to);
}

// Takes the bytes of eight pixels, 0 2 1 3 in the lower half and 4 6 5 7 in the upper, two pixels channel by channel; writes
// exactly 8 * kChannels.
template <int kChannels>
__attribute__((target("avx2"))) inline void store_pixels(std::uint8_t* to, __m256i pixels) {
  const __m128i in_order = kChannels == 3 ? _mm_setr_epi8(0, 2, 4, 8, 10, 12, 1, 3, 5, 9, 11, 13, -1, -1, -1, -1)
                                          : _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  const __m256i ordered = _mm256_shuffle_epi8(pixels, _mm256_broadcastsi128_si256(in_order));
  if constexpr (kChannels == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ordered);
    return;
  }
  const __m128i upper = _mm256_extracti128_si256(ordered, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(ordered));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 12), upper);
  const int last = _mm_extract_epi32(upper, 2);
  std::memcpy(to + 20, &last, sizeof last);
}

// Two pixels times their weights, at kShift fractional bits. One load has a pixel and the next.
template <int kChannels>
__attribute__((target("avx2"))) inline __m256i weighted(const std::int16_t* from, const std::int32_t* first,
                                                        const ByteWeights* weights) {
  const __m128i side_by_side = kChannels == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                                              : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  const __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + first[0]));
  const __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + first[1]));
  const __m256i pixels = _mm256_shuffle_epi8(_mm256_set_m128i(odd, even), _mm256_broadcastsi128_si256(side_by_side));
  return _mm256_madd_epi16(pixels, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights)));
}

// Four pixels, rounded, in 16 bits: the upper halves of two pairs, channel by channel.
template <int kChannels>
__attribute__((target("avx2"))) inline __m256i blend_four(const std::int16_t* from, const std::int32_t* first,
                                                          const ByteWeights* weights) {
  const __m256i pair0 = weighted<kChannels>(from, first, weights);
  const __m256i pair1 = weighted<kChannels>(from, first + 2, weights + 2);
  const __m256i upper = _mm256_blend_epi16(_mm256_srli_epi32(pair0, 16), pair1, 0xAA);
  return _mm256_mulhrs_epi16(upper, _mm256_set1_epi16(1 << (15 - (kShift - 16))));
}

// Eight pixels at once. The last eight may overlap those before.
template <int kChannels>
__attribute__((target("avx2"))) void columns_avx2(const ByteColumns& columns, std::uint8_t* to) {
  constexpr std::int64_t kPixels = 8;
  const std::int64_t last = columns.outputs - kPixels;
  if (last < 0) return blend_byte_columns_scalar(columns, to);
  const std::int16_t* from = columns.from;
  const std::int32_t* first = columns.first;
  const ByteWeights* weights = columns.weights;
  for (std::int64_t x = 0;; x = std::min(x + kPixels, last)) {
    const __m256i four = blend_four<kChannels>(from, first + x, weights + x);
    const __m256i next = blend_four<kChannels>(from, first + x + 4, weights + x + 4);
    const __m256i bytes = _mm256_packus_epi16(four, next);
    store_pixels<kChannels>(to + x * kChannels, _mm256_permute4x64_epi64(bytes, 0xD8));
    if (x == last) return;
  }
}
#endif

RowsKernel choose_rows() {
#if defined(__x86_64__)
  if (cpu_features().avx2) return rows_avx2;
#endif
  return rows_baseline;
}

ColumnsKernel choose_columns(std::int64_t channels) {
#if defined(__x86_64__)
  if (cpu_features().avx2 && channels == 3) return columns_avx2<3>;
  if (cpu_features().avx2 && channels == 4) return columns_avx2<4>;
#endif
  (void)channels;
  return blend_byte_columns_scalar;
}

}  // namespace

ByteWeights::ByteWeights(float next) {
  const auto part = static_cast<std::int16_t>(std::lround(next * (1 << kWeightBits)));
  for (int i = 0; i < 8; i += 2) {
    parts[i] = static_cast<std::int16_t>((1 << kWeightBits) - part);
    parts[i + 1] = part;
  }
}

void blend_byte_rows(const std::uint8_t* a, const std::uint8_t* b, float weight, std::int64_t elements,
                     std::int16_t* to) {
  static const RowsKernel kKernel = choose_rows();
  kKernel(a, b, static_cast<std::int16_t>(std::min(std::lround(weight * 32768.0F), 32767L)), elements, to);
}

void blend_byte_columns_scalar(const ByteColumns& columns, std::uint8_t* to) {
  const std::int64_t channels = columns.channels;
  for (std::int64_t x = 0; x < columns.outputs; ++x) {
    const std::int16_t* at = columns.from + columns.first[x];
    const std::int16_t* parts = columns.weights[x].parts;
    for (std::int64_t c = 0; c < channels; ++c) {
      *to++ = static_cast<std::uint8_t>((at[c] * parts[0] + at[c + channels] * parts[1] + kHalf) >> kShift);
    }
  }
}

void blend_byte_columns(const ByteColumns& columns, std::uint8_t* to) { choose_columns(columns.channels)(columns, to); }

}  // namespace headrace

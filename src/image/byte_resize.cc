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

void columns_from(const ByteColumns& columns, std::int64_t x, std::uint8_t* to) {
  const std::int64_t channels = columns.channels;
  to += x * channels;
  for (; x < columns.outputs; ++x) {
    const std::int16_t* at = columns.from + columns.first[x];
    const std::int16_t* parts = columns.weights[x].parts;
    for (std::int64_t c = 0; c < channels; ++c) {
      *to++ = static_cast<std::uint8_t>((at[c] * parts[0] + at[c + channels] * parts[1] + kHalf) >> kShift);
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void rows_avx2(const std::uint8_t* a, const std::uint8_t* b, std::int16_t weight,
                                               std::int64_t elements, std::int16_t* to) {
  rows_loop(a, b, weight, elements, to);
}

// Four pixels at once; one load has a pixel and the next. Sixteen bytes are written, of which those behind four pixels of
// three channels belong to the next ones.
template <int kChannels>
__attribute__((target("avx2"))) void columns_avx2(const ByteColumns& columns, std::uint8_t* to) {
  const __m128i side_by_side = kChannels == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                                              : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  const __m128i close_up = kChannels == 3 ? _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1)
                                          : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m256i order = _mm256_broadcastsi128_si256(side_by_side);
  const __m256i half = _mm256_set1_epi32(kHalf);
  std::int64_t x = 0;
  for (; x + 4 <= columns.outputs; x += 4) {
    __m256i sums[2];
    for (int pair = 0; pair < 2; ++pair) {
      const std::int32_t* first = columns.first + x + 2 * pair;
      const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.from + first[0]));
      const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.from + first[1]));
      const __m256i pixels = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), order);
      const __m256i weights = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns.weights + x + 2 * pair));
      sums[pair] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(pixels, weights), half), kShift);
    }
    const __m256i words = _mm256_packs_epi32(sums[0], sums[1]);  // pixels 0 and 2, 1 and 3
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i four = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    const __m128i pixels = _mm_shuffle_epi8(four, close_up);
    if (x + 6 <= columns.outputs || kChannels == 4) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + x * kChannels), pixels);
    } else {
      std::uint8_t last[16];
      _mm_storeu_si128(reinterpret_cast<__m128i*>(last), pixels);
      std::memcpy(to + x * kChannels, last, 4 * kChannels);
    }
  }
  columns_from(columns, x, to);
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

void blend_byte_columns_scalar(const ByteColumns& columns, std::uint8_t* to) { columns_from(columns, 0, to); }

void blend_byte_columns(const ByteColumns& columns, std::uint8_t* to) { choose_columns(columns.channels)(columns, to); }

}  // namespace headrace

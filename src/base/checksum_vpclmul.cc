// CRC-32C in two ways at once: the front of the data is folded by carry-less multiplications of 32 bytes, while three lanes of the
// crc32 instruction take the rest. Either alone is bounded by its own unit of the CPU; side by side they do nearly twice as much.
#include "base/checksum_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "base/checksum_moves.h"
#include "base/wire.h"
#endif

namespace headrace {

#if defined(__x86_64__)
namespace {

#define HEADRACE_VPCLMUL __attribute__((target("avx2,sse4.2,pclmul,vpclmulqdq")))

// A round takes two vectors of 32 bytes and three words of each lane.
constexpr std::size_t kVectorBytes = 32;
constexpr std::size_t kVectors = 2;
constexpr std::size_t kLaneWords = 3;
constexpr std::size_t kFrontBytes = kVectors * kVectorBytes;
constexpr std::size_t kRoundBytes = kFrontBytes + 3 * 8 * kLaneWords;
constexpr std::size_t kMostRounds = 128;
constexpr std::size_t kFewestBytes = kFrontBytes + 2 * kRoundBytes;  // for less, putting together costs what is gained

constexpr Crc32cFold kOverVectors = crc32c_fold(8 * kFrontBytes);
constexpr Crc32cFold kOverVector = crc32c_fold(8 * kVectorBytes);
constexpr Crc32cFold kOverHalf = crc32c_fold(8 * kVectorBytes / 2);

constexpr auto kMoves = crc32c_moves<2 * kMostRounds * kLaneWords>();

HEADRACE_VPCLMUL inline __m256i load(const std::uint8_t* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

HEADRACE_VPCLMUL inline __m256i both(const Crc32cFold& fold) {
  const auto low = static_cast<long long>(fold.low);
  const auto high = static_cast<long long>(fold.high);
  return _mm256_set_epi64x(high, low, high, low);
}

// `value`, moved over what `by` stands for, plus `next`.
HEADRACE_VPCLMUL inline __m256i folded(__m256i value, __m256i by, __m256i next) {
  const __m256i low = _mm256_clmulepi64_epi128(value, by, 0x00);
  const __m256i high = _mm256_clmulepi64_epi128(value, by, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}

HEADRACE_VPCLMUL inline std::uint64_t moved(std::uint64_t crc, std::size_t words) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)),
                                               _mm_cvtsi32_si128(static_cast<int>(kMoves[words])), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

// The crc of the 64 bytes that two vectors stand for.
HEADRACE_VPCLMUL inline std::uint64_t crc_of(__m256i first, __m256i second) {
  const __m256i one = folded(first, both(kOverVector), second);
  const __m128i by = _mm256_castsi256_si128(both(kOverHalf));
  const __m128i front = _mm256_castsi256_si128(one);
  const __m128i half =
      _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(front, by, 0x00), _mm_clmulepi64_si128(front, by, 0x11)),
                    _mm256_extracti128_si256(one, 1));
  const std::uint64_t crc = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_extract_epi64(half, 0)));
  return _mm_crc32_u64(crc, static_cast<std::uint64_t>(_mm_extract_epi64(half, 1)));
}

HEADRACE_VPCLMUL std::uint32_t crc32c_vpclmul(const std::uint8_t* data, std::size_t size) {
  if (size < kFewestBytes) return crc32c_sse42(0xFFFFFFFFU, data, size);
  std::uint64_t crc = 0xFFFFFFFFU;
  while (size >= kFewestBytes) {
    const std::size_t rounds = std::min((size - kFrontBytes) / kRoundBytes, kMostRounds);
    const std::size_t words = rounds * kLaneWords;
    const __m256i by = both(kOverVectors);
    __m256i first = load(data);
    __m256i second = load(data + kVectorBytes);
    first = _mm256_xor_si256(first, _mm256_castsi128_si256(_mm_cvtsi32_si128(static_cast<int>(crc))));
    const std::uint8_t* front = data + kFrontBytes;
    const std::uint8_t* lane0 = front + kFrontBytes * rounds;
    const std::uint8_t* lane1 = lane0 + 8 * words;
    const std::uint8_t* lane2 = lane1 + 8 * words;
    const std::uint8_t* end = lane2 + 8 * words;
    std::uint64_t crc0 = 0;
    std::uint64_t crc1 = 0;
    std::uint64_t crc2 = 0;
    for (std::size_t at = 0; at < 8 * words; at += 8 * kLaneWords) {
      first = folded(first, by, load(front));
      second = folded(second, by, load(front + kVectorBytes));
      front += kFrontBytes;
      for (std::size_t word = at; word < at + 8 * kLaneWords; word += 8) {
        crc0 = _mm_crc32_u64(crc0, load_u64(lane0 + word));
        crc1 = _mm_crc32_u64(crc1, load_u64(lane1 + word));
        crc2 = _mm_crc32_u64(crc2, load_u64(lane2 + word));
      }
    }
    crc = _mm_crc32_u64(0, moved(crc_of(first, second), words)) ^ crc0;
    crc = _mm_crc32_u64(0, moved(crc, 2 * words) ^ moved(crc1, words)) ^ crc2;
    size -= static_cast<std::size_t>(end - data);
    data = end;
  }
  return crc32c_sse42(static_cast<std::uint32_t>(crc), data, size);
}

}  // namespace

CrcKernel crc32c_vpclmul_kernel() { return crc32c_vpclmul; }
#else
CrcKernel crc32c_vpclmul_kernel() { return nullptr; }
#endif

}  // namespace headrace

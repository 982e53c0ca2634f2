// CRC-32C by carry-less multiplications of 16 bytes alone: two vectors of the data are folded over those that follow, to the end.
// For CPUs whose crc32 instruction is slow (three cycles for 8 bytes on AMD before Zen 3, where a vector takes four).
#include "base/checksum_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/checksum_moves.h"
#endif

namespace headrace {

#if defined(__x86_64__)
namespace {

#define HEADRACE_PCLMUL __attribute__((target("sse4.2,pclmul")))

constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kRoundBytes = 2 * kVectorBytes;
constexpr std::size_t kFewestBytes = 2 * kRoundBytes;  // less than that is gone before the first product is there
constexpr Crc32cFold kOverRound = crc32c_fold(8 * kRoundBytes);
constexpr Crc32cFold kOverVector = crc32c_fold(8 * kVectorBytes);

HEADRACE_PCLMUL inline __m128i load(const std::uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

HEADRACE_PCLMUL inline __m128i vector_of(const Crc32cFold& fold) {
  return _mm_set_epi64x(static_cast<long long>(fold.high), static_cast<long long>(fold.low));
}

// `value`, moved over what `by` stands for, plus `next`.
HEADRACE_PCLMUL inline __m128i folded(__m128i value, __m128i by, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(value, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(value, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

HEADRACE_PCLMUL std::uint32_t crc32c_pclmul(const std::uint8_t* data, std::size_t size) {
  if (size < kFewestBytes) return crc32c_sse42(0xFFFFFFFFU, data, size);
  const __m128i by_round = vector_of(kOverRound);
  const __m128i by_vector = vector_of(kOverVector);
  __m128i first = _mm_xor_si128(load(data), _mm_cvtsi32_si128(-1));
  __m128i second = load(data + kVectorBytes);
  data += kRoundBytes;
  size -= kRoundBytes;
  for (; size >= kRoundBytes; data += kRoundBytes, size -= kRoundBytes) {
    first = folded(first, by_round, load(data));
    second = folded(second, by_round, load(data + kVectorBytes));
  }
  __m128i rest = folded(first, by_vector, second);
  if (size >= kVectorBytes) {
    rest = folded(rest, by_vector, load(data));
    data += kVectorBytes;
    size -= kVectorBytes;
  }
  std::uint64_t crc = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(rest)));
  crc = _mm_crc32_u64(crc, static_cast<std::uint64_t>(_mm_extract_epi64(rest, 1)));
  return crc32c_sse42(static_cast<std::uint32_t>(crc), data, size);
}

}  // namespace

CrcKernel crc32c_pclmul_kernel() { return crc32c_pclmul; }
#else
CrcKernel crc32c_pclmul_kernel() { return nullptr; }
#endif

}  // namespace headrace

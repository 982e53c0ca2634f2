// CRC-32C with the crc32 instruction. It has a latency of 3 cycles and a throughput of 1, so three lanes run side by side;
// a carry-less multiplication moves the first two lanes' values over the bytes behind them.
#include "base/checksum_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/checksum_moves.h"
#include "base/wire.h"
#endif

namespace headrace {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kMaxLaneWords = 128;

constexpr auto kMoves = crc32c_moves<2 * kMaxLaneWords>();

__attribute__((target("sse4.2,pclmul"))) inline std::uint64_t multiply(std::uint64_t crc, std::uint32_t by) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)), _mm_cvtsi32_si128(static_cast<int>(by)), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul"))) std::uint32_t crc32c_whole(const std::uint8_t* data, std::size_t size) {
  return crc32c_sse42(0xFFFFFFFFU, data, size);
}

}  // namespace

__attribute__((target("sse4.2,pclmul"))) std::uint32_t crc32c_sse42(std::uint32_t begin, const std::uint8_t* data,
                                                                    std::size_t size) {
  std::uint64_t crc = begin;
  while (size >= 3 * 8 * 4) {  // below four words a lane the multiplications cost more than they save
    const std::size_t words = size / 24 < kMaxLaneWords ? size / 24 : kMaxLaneWords;
    const std::uint8_t* second = data + 8 * words;
    const std::uint8_t* third = second + 8 * words;
    std::uint64_t crc1 = 0;
    std::uint64_t crc2 = 0;
    for (std::size_t i = 0; i < 8 * words; i += 8) {
      crc = _mm_crc32_u64(crc, load_u64(data + i));
      crc1 = _mm_crc32_u64(crc1, load_u64(second + i));
      crc2 = _mm_crc32_u64(crc2, load_u64(third + i));
    }
    const std::uint64_t moved = multiply(crc, kMoves[2 * words]) ^ multiply(crc1, kMoves[words]);
    crc = _mm_crc32_u64(0, moved) ^ crc2;
    data += 24 * words;
    size -= 24 * words;
  }
  for (; size >= 8; data += 8, size -= 8) crc = _mm_crc32_u64(crc, load_u64(data));
  auto low = static_cast<std::uint32_t>(crc);
  if (size >= 4) {
    low = _mm_crc32_u32(low, load_u32(data));
    data += 4;
    size -= 4;
  }
  for (; size > 0; ++data, --size) low = _mm_crc32_u8(low, *data);
  return ~low;
}

CrcKernel crc32c_sse42_kernel() { return crc32c_whole; }
#else
CrcKernel crc32c_sse42_kernel() { return nullptr; }
#endif

}  // namespace headrace

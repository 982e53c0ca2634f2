#include "example/packed_varints.h"

#include <algorithm>
#include <bit>

#include "base/cpu.h"
#include "base/wire.h"
#include "example/varint_block.h"
#include "example/varint_word.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace headrace {
namespace {

// Bit i is set when byte i of the block has its continuation bit.
std::uint64_t continuation_bits(const std::uint8_t* block) {
#if defined(__SSE2__)
  std::uint64_t bits = 0;
  for (int i = 3; i >= 0; --i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    bits = bits << 16 | static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
  }
  return bits;
#else
  std::uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) {
    const std::uint64_t high = (load_u64(block + 8 * i) >> 7) & 0x0101010101010101ULL;
    bits = bits << 8 | (high * 0x0102040810204080ULL) >> 56;
  }
  return bits;
#endif
}

// A varint of 1 to 10 bytes, known to be whole.
std::int64_t decode_varint(const std::uint8_t* p, std::size_t bytes) {
  if (bytes <= 8) return static_cast<std::int64_t>(join_varint_groups(load_u64(p), static_cast<unsigned>(bytes)));
  std::uint64_t v = join_varint_groups(load_u64(p), 8) | std::uint64_t{p[8] & 0x7FU} << 56;
  if (bytes == 10) v |= std::uint64_t{p[9]} << 63;
  return static_cast<std::int64_t>(v);
}

// Takes the ends of varints out of a block's bits, one after the other.
class Ends {
 public:
  Ends(const std::uint8_t* block, std::uint64_t bits) : behind_first_(block + 1), bits_(bits) {}
  /// The byte behind the next varint; there must be one.
  const std::uint8_t* next() {
    const std::uint8_t* behind = behind_first_ + std::countr_zero(bits_);
    bits_ &= bits_ - 1;
    return behind;
  }

 private:
  const std::uint8_t* const behind_first_;
  std::uint64_t bits_;
};

VarintKernel choose() {
  if (cpu_features().avx2 && cpu_features().bmi2 && packed_varints_bmi2_kernel() != nullptr) {
    return packed_varints_bmi2_kernel();
  }
  return decode_packed_varints_baseline;
}

}  // namespace

std::int64_t decode_packed_varints(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                   std::int64_t capacity) {
  static const VarintKernel kKernel = choose();
  return kKernel(data, size, out, capacity);
}

std::int64_t decode_packed_varints_baseline(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                            std::int64_t capacity) {
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
    const std::int64_t ending = std::popcount(~continuation & inside);
    const std::int64_t values = std::clamp<std::int64_t>(capacity - count, 0, ending);
    std::int64_t* to = out + std::min(count, capacity);
    count += ending;
    if (values == kVarintBlock && start == block) {
      for (std::size_t i = 0; i < kVarintBlock; ++i) to[i] = block[i];
      start = block + kVarintBlock;
      continue;
    }
    Ends ends(block, ~continuation & inside);
    std::int64_t i = 0;
    if (!runs.has_nine_bytes()) {
      for (; i + 1 < values; i += 2) {
        const std::uint8_t* middle = ends.next();
        const std::uint8_t* behind = ends.next();
        join_two_varints(load_u64(start), static_cast<unsigned>(middle - start), load_u64(middle),
                         static_cast<unsigned>(behind - middle), to + i);
        start = behind;
      }
    }
    for (; i < values; ++i) {
      const std::uint8_t* behind = ends.next();
      to[i] = decode_varint(start, static_cast<std::size_t>(behind - start));
      start = behind;
    }
  }
  return count;
}

std::int64_t decode_packed_varints_scalar(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                          std::int64_t capacity) {
  const std::uint8_t* end = data + size;
  std::int64_t count = 0;
  for (const std::uint8_t* p = data; p != end; ++count) {
    std::uint64_t value = 0;
    p = read_varint(p, end, &value);
    if (p == nullptr) return -1;
    if (count < capacity) out[count] = static_cast<std::int64_t>(value);
  }
  return count;
}

}  // namespace headrace

#include "example/packed_varints.h"

#include <algorithm>
#include <bit>

#include "base/wire.h"
#include "example/varint_word.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace headrace {
namespace {

constexpr std::size_t kBlock = 64;

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

// Finds runs of 10 continuation bits, which no varint may have, over block borders.
class LongVarintDetector {
 public:
  bool sees(std::uint64_t continuation) {
    const std::uint64_t run2 = continuation & shift_in(continuation, &last1_, 1);
    const std::uint64_t run4 = run2 & shift_in(run2, &last2_, 2);
    const std::uint64_t run8 = run4 & shift_in(run4, &last4_, 4);
    return (run8 & shift_in(run2, &last8_, 8)) != 0;
  }

 private:
  static std::uint64_t shift_in(std::uint64_t bits, std::uint64_t* last, int by) {
    const std::uint64_t shifted = bits << by | *last >> (64 - by);
    *last = bits;
    return shifted;
  }

  std::uint64_t last1_ = 0;
  std::uint64_t last2_ = 0;
  std::uint64_t last4_ = 0;
  std::uint64_t last8_ = 0;
};

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

bool has_run_of_8(std::uint64_t bits) {
  const std::uint64_t run2 = bits & bits << 1;
  const std::uint64_t run4 = run2 & run2 << 2;
  return (run4 & run4 << 4) != 0;
}

}  // namespace

std::int64_t count_packed_varints(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[size - 1] >= 0x80) return -1;
  LongVarintDetector detector;
  std::int64_t count = 0;
  for (std::size_t at = 0; at < size; at += kBlock) {
    const std::size_t left = size - at;
    const std::uint64_t inside = left >= kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const std::uint64_t continuation = continuation_bits(data + at) & inside;
    if (detector.sees(continuation)) return -1;
    count += std::popcount(~continuation & inside);
  }
  return count;
}

std::int64_t count_packed_varints_scalar(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* end = data + size;
  std::int64_t count = 0;
  std::uint64_t ignored = 0;
  for (const std::uint8_t* p = data; p != end; ++count) {
    p = read_varint(p, end, &ignored);
    if (p == nullptr) return -1;
  }
  return count;
}

void decode_packed_varints(const std::uint8_t* data, std::size_t size, std::int64_t* out, std::int64_t count) {
  const std::uint8_t* start = data;  // of the varint that is read next; may lie in the block before
  for (std::size_t at = 0; at < size && count > 0; at += kBlock) {
    const std::uint8_t* block = data + at;
    const std::size_t left = size - at;
    const std::uint64_t inside = left >= kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const std::uint64_t continuation = continuation_bits(block) & inside;
    if (continuation == 0 && start == block && left >= kBlock && count >= static_cast<std::int64_t>(kBlock)) {
      for (std::size_t i = 0; i < kBlock; ++i) out[i] = block[i];
      out += kBlock;
      count -= static_cast<std::int64_t>(kBlock);
      start = block + kBlock;
      continue;
    }
    Ends ends(block, ~continuation & inside);
    const std::int64_t values = std::min<std::int64_t>(std::popcount(~continuation & inside), count);
    std::int64_t i = 0;
    const auto decode_one = [&] {
      const std::uint8_t* behind = ends.next();
      out[i++] = decode_varint(start, static_cast<std::size_t>(behind - start));
      start = behind;
    };
    if (values > 0) decode_one();  // alone, because it may have begun in the block before and be long
    if (!has_run_of_8(continuation)) {
      for (; i + 1 < values; i += 2) {
        const std::uint8_t* middle = ends.next();
        const std::uint8_t* behind = ends.next();
        join_two_varints(load_u64(start), static_cast<unsigned>(middle - start), load_u64(middle),
                         static_cast<unsigned>(behind - middle), out + i);
        start = behind;
      }
    }
    while (i < values) decode_one();
    out += values;
    count -= values;
  }
}

void decode_packed_varints_scalar(const std::uint8_t* data, std::size_t size, std::int64_t* out, std::int64_t count) {
  const std::uint8_t* p = data;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    p = read_varint(p, data + size, &value);
    out[i] = static_cast<std::int64_t>(value);
  }
}

}  // namespace headrace

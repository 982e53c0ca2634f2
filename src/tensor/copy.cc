#include "tensor/copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>

namespace headrace {

#if defined(__SSE2__)

void copy_streaming(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 512;
  const std::size_t to_line = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  const std::size_t head = std::min(bytes, to_line);
  copy_plain(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  // Whole lines only: a partly written line would be read back first.
  for (; bytes >= kLine; bytes -= kLine, to += kLine, from += kLine) {
    __builtin_prefetch(from + kAhead);
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  copy_plain(to, from, bytes);
  _mm_sfence();  // such stores are not ordered by a release
}

#else

void copy_streaming(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) { copy_plain(to, from, bytes); }

#endif

}  // namespace headrace

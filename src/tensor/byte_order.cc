#include "tensor/byte_order.h"

#include <cstring>

namespace headrace {
namespace {

inline std::uint16_t swapped(std::uint16_t word) { return __builtin_bswap16(word); }
inline std::uint32_t swapped(std::uint32_t word) { return __builtin_bswap32(word); }
inline std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }

template <class Word>
void copy_words(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from + at, sizeof word);
    word = swapped(word);
    std::memcpy(to + at, &word, sizeof word);
  }
}

// Bytes of the parts that change places.
std::size_t unit_of(DType dtype) {
  const std::size_t size = size_of(dtype);
  return dtype == DType::kComplex64 || dtype == DType::kComplex128 ? size / 2 : size;
}

}  // namespace

void copy_swapped(DType dtype, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  switch (unit_of(dtype)) {
    case 2:
      return copy_words<std::uint16_t>(to, from, bytes);
    case 4:
      return copy_words<std::uint32_t>(to, from, bytes);
    case 8:
      return copy_words<std::uint64_t>(to, from, bytes);
    default:
      if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
  }
}

}  // namespace headrace

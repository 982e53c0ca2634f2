// The polynomial of CRC-32C and the numbers that move a checksum over bytes that follow, for kernels that put parts together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace {

constexpr std::uint32_t kCrc32cPolynomial = 0x82F63B78U;  // Castagnoli, reflected: bit 31 is x^0

/// value * x mod P.
constexpr std::uint32_t crc32c_times_x(std::uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? kCrc32cPolynomial : 0);
}

/// What the low and the high half of 16 bytes are multiplied by, without carries, to stand further on in the data.
struct Crc32cFold {
  std::uint64_t low;
  std::uint64_t high;
};

/// Over `bits` (at least 33). The low half is the higher power; a product of 64 reflected bits stands one bit too low, hence the doubling.
constexpr Crc32cFold crc32c_fold(std::size_t bits) {
  const auto power = [](std::size_t n) {  // x^n mod P
    std::uint32_t value = 0x80000000U;
    while (n-- > 0) value = crc32c_times_x(value);
    return std::uint64_t{value};
  };
  return {power(bits + 32) << 1, power(bits - 32) << 1};
}

/// moves[m] = x^(64 m - 33) mod P for m in [1, kWords]. With it crc32(0, clmul(crc, moves[m])) is crc moved over m words: the
/// product of two reflected 32-bit values stands one bit too low in 64 bits, and the instruction multiplies by x^32.
template <std::size_t kWords>
constexpr std::array<std::uint32_t, kWords + 1> crc32c_moves() {
  std::array<std::uint32_t, kWords + 1> moves{};
  std::uint32_t value = 1;  // x^31
  for (std::size_t m = 1; m < moves.size(); ++m) {
    moves[m] = value;
    for (int bit = 0; bit < 64; ++bit) value = crc32c_times_x(value);
  }
  return moves;
}

}  // namespace headrace

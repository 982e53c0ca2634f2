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

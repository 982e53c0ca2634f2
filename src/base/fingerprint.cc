// FarmHash's Fingerprint64 as its authors define it (farmhashna): four formulas by length, the last one for blocks of 64.
#include "base/fingerprint.h"

#include <bit>
#include <utility>

#include "base/wire.h"

namespace headrace {
namespace {

constexpr std::uint64_t kMul0 = 0xC3A5C85C97CB3127ULL;
constexpr std::uint64_t kMul1 = 0xB492B66FBE98F273ULL;
constexpr std::uint64_t kMul2 = 0x9AE16A3B2F90404FULL;

struct Pair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

std::uint64_t rotate(std::uint64_t value, int by) { return std::rotr(value, by); }
std::uint64_t fold(std::uint64_t value) { return value ^ (value >> 47); }

std::uint64_t join(std::uint64_t low, std::uint64_t high, std::uint64_t mul) {
  const std::uint64_t a = fold((low ^ high) * mul);
  return fold((high ^ a) * mul) * mul;
}

std::uint64_t up_to_16(const char* s, std::size_t size) {
  if (size >= 8) {
    const std::uint64_t mul = kMul2 + size * 2;
    const std::uint64_t a = load_u64(s) + kMul2;
    const std::uint64_t b = load_u64(s + size - 8);
    return join(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (size >= 4) {
    const std::uint64_t a = load_u32(s);
    return join(size + (a << 3), load_u32(s + size - 4), kMul2 + size * 2);
  }
  if (size == 0) return kMul2;
  const auto byte = [s](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(s[i])}; };
  const std::uint32_t y = byte(0) + (byte(size >> 1) << 8);
  const std::uint32_t z = static_cast<std::uint32_t>(size) + (byte(size - 1) << 2);
  return fold(y * kMul2 ^ z * kMul0) * kMul2;
}

std::uint64_t up_to_32(const char* s, std::size_t size) {
  const std::uint64_t mul = kMul2 + size * 2;
  const std::uint64_t a = load_u64(s) * kMul1;
  const std::uint64_t b = load_u64(s + 8);
  const std::uint64_t c = load_u64(s + size - 8) * mul;
  const std::uint64_t d = load_u64(s + size - 16) * kMul2;
  return join(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + kMul2, 18) + c, mul);
}

std::uint64_t up_to_64(const char* s, std::size_t size) {
  const std::uint64_t mul = kMul2 + size * 2;
  const std::uint64_t a = load_u64(s) * kMul2;
  const std::uint64_t b = load_u64(s + 8);
  const std::uint64_t c = load_u64(s + size - 8) * mul;
  const std::uint64_t d = load_u64(s + size - 16) * kMul2;
  const std::uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const std::uint64_t z = join(y, a + rotate(b + kMul2, 18) + c, mul);
  const std::uint64_t e = load_u64(s + 16) * mul;
  const std::uint64_t f = load_u64(s + 24);
  const std::uint64_t g = (y + load_u64(s + size - 32)) * mul;
  const std::uint64_t h = (z + load_u64(s + size - 24)) * mul;
  return join(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

// 32 bytes into 128 bits.
Pair mix_32(const char* s, std::uint64_t a, std::uint64_t b) {
  a += load_u64(s);
  b = rotate(b + a + load_u64(s + 24), 21);
  const std::uint64_t before = a;
  a += load_u64(s + 8) + load_u64(s + 16);
  b += rotate(a, 44);
  return {a + load_u64(s + 24), b + before};
}

std::uint64_t over_64(const char* s, std::size_t size) {
  constexpr std::uint64_t kSeed = 81;
  std::uint64_t x = kSeed * kMul2 + load_u64(s);
  std::uint64_t y = kSeed * kMul1 + 113;
  std::uint64_t z = fold(y * kMul2 + 113) * kMul2;
  Pair v;
  Pair w;
  const char* const last_block = s + (size - 1) / 64 * 64;
  const char* const last_64 = s + size - 64;
  for (; s != last_block; s += 64) {
    x = rotate(x + y + v.first + load_u64(s + 8), 37) * kMul1;
    y = rotate(y + v.second + load_u64(s + 48), 42) * kMul1;
    x ^= w.second;
    y += v.first + load_u64(s + 40);
    z = rotate(z + w.first, 33) * kMul1;
    v = mix_32(s, v.second * kMul1, x + w.first);
    w = mix_32(s + 32, z + w.second, y + load_u64(s + 16));
    std::swap(z, x);
  }
  const std::uint64_t mul = kMul1 + ((z & 0xFF) << 1);
  s = last_64;
  w.first += (size - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  x = rotate(x + y + v.first + load_u64(s + 8), 37) * mul;
  y = rotate(y + v.second + load_u64(s + 48), 42) * mul;
  x ^= w.second * 9;
  y += v.first * 9 + load_u64(s + 40);
  z = rotate(z + w.first, 33) * mul;
  v = mix_32(s, v.second * mul, x + w.first);
  w = mix_32(s + 32, z + w.second, y + load_u64(s + 16));
  std::swap(z, x);
  return join(join(v.first, w.first, mul) + fold(y) * kMul0 + z, join(v.second, w.second, mul) + x, mul);
}

}  // namespace

std::uint64_t fingerprint64(std::string_view text) {
  if (text.size() <= 16) return up_to_16(text.data(), text.size());
  if (text.size() <= 32) return up_to_32(text.data(), text.size());
  return text.size() <= 64 ? up_to_64(text.data(), text.size()) : over_64(text.data(), text.size());
}

}  // namespace headrace

// float16 and bfloat16 from and to float32, without branches so that loops over them become vector code. Rounds to the
// nearest, ties to even. A NaN becomes quiet: float16 keeps its sign and upper bits, as the CPU's own instruction does,
// bfloat16 has one NaN, as TensorFlow's.
#pragma once

#include <bit>
#include <cstdint>

namespace headrace {

[[gnu::always_inline]] inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC0U : rounded);
}

[[gnu::always_inline]] inline float from_bfloat16(std::uint16_t value) {
  return std::bit_cast<float>(std::uint32_t{value} << 16);
}

[[gnu::always_inline]] inline std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // Below 2^-14 the result is subnormal: adding 0.5 lets the addition round to its unit, 2^-24.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U | ((magnitude >> 13) & 0x3FFU) : 0x7C00U;
  const std::uint32_t finite = magnitude < 0x38800000U ? subnormal : normal;
  return static_cast<std::uint16_t>(sign | (magnitude >= 0x47800000U ? special : finite));
}

[[gnu::always_inline]] inline float from_float16(std::uint16_t value) {
  const std::uint32_t sign = (std::uint32_t{value} & 0x8000U) << 16;
  const std::uint32_t magnitude = std::uint32_t{value} & 0x7FFFU;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(0x3F000000U + magnitude) - 0.5F);
  const std::uint32_t normal = (magnitude << 13) + 0x38000000U;
  const std::uint32_t special = (magnitude << 13) + 0x70000000U;
  const std::uint32_t finite = magnitude < 0x0400U ? subnormal : normal;
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00U ? special : finite));
}

}  // namespace headrace

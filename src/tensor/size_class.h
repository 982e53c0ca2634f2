// Size classes of recycled memory: four per doubling from 256 bytes on, so at most a quarter of a piece is slack.
#pragma once

#include <bit>
#include <cstddef>

namespace headrace {

constexpr std::size_t kSmallestClass = 256;
/// Up to 512 GiB. What is larger is not even asked for: no machine has it.
constexpr std::size_t kSizeClasses = 4 * 31 + 1;

/// The smallest class that holds `bytes`; kSizeClasses and more: none.
inline std::size_t size_class_of(std::size_t bytes) {
  if (bytes <= kSmallestClass) return 0;
  const std::size_t last = bytes - 1;
  const int doubling = static_cast<int>(std::bit_width(last)) - 1;  // 2^doubling <= last
  const std::size_t quarter = (last >> (doubling - 2)) & 3;
  return static_cast<std::size_t>(doubling - 8) * 4 + quarter + 1;
}

inline std::size_t size_class_bytes(std::size_t size_class) {
  if (size_class == 0) return kSmallestClass;
  const std::size_t doubling = (size_class - 1) / 4 + 8;
  const std::size_t quarter = (size_class - 1) % 4 + 1;
  return (std::size_t{1} << doubling) + (quarter << (doubling - 2));
}

}  // namespace headrace

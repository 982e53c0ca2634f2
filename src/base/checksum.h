// CRC-32C as TFRecord uses it. Pure functions; the fastest kernel of this CPU is chosen once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// CRC-32C (Castagnoli, reflected, initial and final inversion) of `size` bytes.
std::uint32_t crc32c(const std::uint8_t* data, std::size_t size);

/// TFRecord's masked form: rotate right by 15, then add a constant.
inline std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U; }

/// The name of the kernel in use: "scalar", "sse42", "isal", "pclmul" or "vpclmul".
const char* crc32c_kernel();

/// The scalar twin, for tests and for `HEADRACE_CPU=scalar`.
std::uint32_t crc32c_scalar(const std::uint8_t* data, std::size_t size);

}  // namespace headrace

// The kernels of crc32c(), for their tests. All give the same value as crc32c_scalar().
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

using CrcKernel = std::uint32_t (*)(const std::uint8_t* data, std::size_t size);

/// Needs SSE4.2 and PCLMUL; null where the compiler has no such target.
CrcKernel crc32c_sse42_kernel();

/// The same as a part of others: goes on from `begin`, the complement of the checksum of what stands before `data`. Not there
/// on other machines than x86-64.
std::uint32_t crc32c_sse42(std::uint32_t begin, const std::uint8_t* data, std::size_t size);

/// Needs what that one needs; null where the compiler has no such target.
CrcKernel crc32c_pclmul_kernel();

/// Needs AVX2 and VPCLMULQDQ as well; null where the compiler has no such target.
CrcKernel crc32c_vpclmul_kernel();

/// ISA-L's, with the SSE4.2 kernel for short inputs; needs what that one needs. Null when the build has no ISA-L.
CrcKernel crc32c_isal_kernel();

}  // namespace headrace

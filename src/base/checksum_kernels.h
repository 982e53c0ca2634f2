// The kernels of crc32c(), for their tests. All give the same value as crc32c_scalar().
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

using CrcKernel = std::uint32_t (*)(const std::uint8_t* data, std::size_t size);

/// Needs SSE4.2 and PCLMUL; null where the compiler has no such target.
CrcKernel crc32c_sse42_kernel();

/// ISA-L's, with the SSE4.2 kernel for short inputs; needs what that one needs. Null when the build has no ISA-L.
CrcKernel crc32c_isal_kernel();

}  // namespace headrace

// A run of varints without tags: a packed chunk of an Int64List.
//
// The kernels look at 64 bytes at a time: one bit per byte tells where varints end, so that the loop over values carries no
// dependency from one value's length to the next. All give the answers of the scalar twin. Pure functions; `data` must be
// padded by kRecordPadding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// Number of varints in [data, data + size), or -1 when the last is cut or one is longer than 10 bytes. The low 64 bits of
/// the first `capacity` of them go to `out`, nothing behind that; what is there beyond their number, or after -1, is
/// unspecified.
std::int64_t decode_packed_varints(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                   std::int64_t capacity);

inline std::int64_t count_packed_varints(const std::uint8_t* data, std::size_t size) {
  return decode_packed_varints(data, size, nullptr, 0);
}

/// The kernels, with that contract, for their tests.
using VarintKernel = std::int64_t (*)(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                      std::int64_t capacity);
std::int64_t decode_packed_varints_scalar(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                          std::int64_t capacity);
/// For any CPU that the build is for.
std::int64_t decode_packed_varints_baseline(const std::uint8_t* data, std::size_t size, std::int64_t* out,
                                            std::int64_t capacity);
/// Needs AVX2 and fast BMI2; null where the compiler has no such target.
VarintKernel packed_varints_bmi2_kernel();

}  // namespace headrace

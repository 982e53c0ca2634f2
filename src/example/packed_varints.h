// Kernels for a run of varints without tags: a packed chunk of an Int64List, or of a typed field of a TensorProto.
//
// count_ checks the run, decode_ trusts that check. Both look at 64 bytes at a time: one bit per byte tells where varints
// end, so that the loop over values carries no dependency from one value's length to the next. The _scalar twins define
// the answers. Pure functions; `data` must be padded by kRecordPadding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// Number of varints in [data, data + size), or -1 when the last is cut or one is longer than 10 bytes.
std::int64_t count_packed_varints(const std::uint8_t* data, std::size_t size);
std::int64_t count_packed_varints_scalar(const std::uint8_t* data, std::size_t size);

/// Writes the low 64 bits of the first `count` varints; there must be so many, checked by the count. 1.4 GB/s of wire for
/// varints of 1 to 4 bytes, mixed at random.
void decode_packed_varints(const std::uint8_t* data, std::size_t size, std::int64_t* out, std::int64_t count);
void decode_packed_varints_scalar(const std::uint8_t* data, std::size_t size, std::int64_t* out, std::int64_t count);

}  // namespace headrace

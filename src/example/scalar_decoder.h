// The most frequent lists of all, decoded in line: a packed list of one value, as every writer makes for a scalar feature.
//
// False means "not that form": the list may still be good; ask list_decoder.h. Pure; the list must be padded by
// kRecordPadding. 1 to 2 ns each without a branch on the value.
#pragma once

#include <bit>
#include <cstdint>

#include "base/wire.h"
#include "example/feature_view.h"

namespace headrace {

/// The 7-bit groups of the low `bytes` (1 to 8) bytes of `word`, joined: a varint without its continuation bits.
inline std::uint64_t join_varint_groups(std::uint64_t word, unsigned bytes) {
  std::uint64_t v = word & (~std::uint64_t{0} >> (64 - 8 * bytes));
  v = (v & 0x007F007F007F007FULL) | ((v & 0x7F007F007F007F00ULL) >> 1);
  v = (v & 0x00003FFF00003FFFULL) | ((v & 0x3FFF00003FFF0000ULL) >> 2);
  return (v & 0x000000000FFFFFFFULL) | ((v & 0x0FFFFFFF00000000ULL) >> 4);
}

/// Int64List: tag 0x0A, length 1 to 8, one varint that fills it.
inline bool decode_int64_scalar(const FeatureView& list, std::int64_t* out) {
  const std::uint32_t bytes = list.size - 2;
  if (bytes - 1 > 7) return false;  // also for sizes below 3
  const std::uint64_t word = load_u64(list.data + 2);
  const std::uint64_t stops = ~word & 0x8080808080808080ULL;
  const bool is_packed = load_u32(list.data) << 16 == (0x0AU | bytes << 8) << 16;
  // The first byte without continuation bit must be the last of the list. `stops` may be 0: countr_zero gives 64 then.
  if (!is_packed || static_cast<unsigned>(std::countr_zero(stops)) != 8 * bytes - 1) return false;
  *out = static_cast<std::int64_t>(join_varint_groups(word, bytes));
  return true;
}

/// FloatList: tag 0x0A, length 4, the float.
inline bool decode_float_scalar(const FeatureView& list, float* out) {
  if (list.size != 6 || load_u32(list.data) << 16 != 0x040A0000U) return false;
  *out = std::bit_cast<float>(load_u32(list.data + 2));
  return true;
}

/// BytesList: tag 0x0A, a length that fills the list. The value lies in the record.
inline bool decode_bytes_scalar(const FeatureView& list, const std::uint8_t** data, std::uint64_t* size) {
  if (list.size < 2 || list.data[0] != 0x0A) return false;
  const std::uint8_t* end = list.data + list.size;
  const std::uint8_t* p = read_varint(list.data + 1, end, size);
  if (p == nullptr || *size != static_cast<std::uint64_t>(end - p)) return false;
  *data = p;
  return true;
}

}  // namespace headrace

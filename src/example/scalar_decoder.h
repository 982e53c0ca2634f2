// The most frequent lists of all, decoded in line: a packed list of one value, as every writer makes for a scalar feature.
//
// False means "not that form": the list may still be good; ask list_decoder.h. Pure; the list must be padded by
// kRecordPadding. About 3 ns each, without a branch on the value.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/wire.h"
#include "example/feature_view.h"
#include "example/varint_word.h"

namespace headrace {

inline std::uint32_t load_u16(const void* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Int64List: tag 0x0A, length 1 to 8, one varint that fills it.
inline bool decode_int64_scalar(const FeatureView& list, std::int64_t* out) {
  const std::uint32_t bytes = list.size - 2;
  if (bytes - 1 > 7) return false;  // also for sizes below 3
  const std::uint64_t word = load_u64(list.data + 2);
  // All of its bytes but the last have the continuation bit.
  const bool is_one_varint = (word & kVarintMasks.continuation[bytes]) == kVarintMasks.continuation[bytes - 1];
  if (!is_one_varint || load_u16(list.data) != (0x0AU | bytes << 8)) return false;
  *out = static_cast<std::int64_t>(join_varint_groups(word, bytes));
  return true;
}

/// FloatList: tag 0x0A, length 4, the float.
inline bool decode_float_scalar(const FeatureView& list, float* out) {
  if (list.size != 6 || load_u16(list.data) != 0x040AU) return false;
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

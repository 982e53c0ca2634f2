// Little-endian loads and stores and protobuf varints on plain bytes. Inline, no state, no allocation.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace headrace {

static_assert(std::endian::native == std::endian::little, "headrace runs on little-endian machines only");

inline std::uint32_t load_u32(const void* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline std::uint64_t load_u64(const void* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store_u32(void* p, std::uint32_t v) { std::memcpy(p, &v, sizeof v); }
inline void store_u64(void* p, std::uint64_t v) { std::memcpy(p, &v, sizeof v); }

/// Reads a varint of at most 10 bytes from [p, end): its low 64 bits go to `value`, as protobuf does.
/// Returns the byte behind it, or null when it is cut or longer than 10 bytes.
inline const std::uint8_t* read_varint(const std::uint8_t* p, const std::uint8_t* end, std::uint64_t* value) {
  if (p < end && *p < 0x80) [[likely]] {
    *value = *p;
    return p + 1;
  }
  std::uint64_t v = 0;
  for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
    const std::uint8_t byte = *p++;
    v |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      *value = v;
      return p;
    }
  }
  return nullptr;
}

/// Writes `value` as a varint at `p` (room for 10 bytes); returns the byte behind it.
inline std::uint8_t* write_varint(std::uint8_t* p, std::uint64_t value) {
  while (value >= 0x80) {
    *p++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<std::uint8_t>(value);
  return p;
}

}  // namespace headrace

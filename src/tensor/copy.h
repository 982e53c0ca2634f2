// copy_bytes: the one copy from a record to its place in the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace {

inline void copy_bytes(std::uint8_t* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace headrace

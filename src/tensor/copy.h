// copy_bytes: the one copy of a value from its record to its place in the batch.
//
// From kStreamingBytes on it writes around the caches: the batch is read later, mostly by another core, and the records of
// the next rows stay where they are. Measured with 12 KB, 44 KB and 110 KB values, the consumer's read of every byte
// included: 10 to 30 % less time per record than memcpy with 2, 8 and 32 batches of 256 in flight (EPYC 7003, 32 MiB L3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace {

constexpr std::size_t kStreamingBytes = 4096;

/// The scalar twin: same result.
inline void copy_plain(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
/// Non-temporal stores where the CPU has them; visible to other threads like any other write when it returns.
void copy_streaming(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);

inline void copy_bytes(std::uint8_t* to, const void* from, std::size_t bytes) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  if (bytes >= kStreamingBytes) {
    copy_streaming(to, source, bytes);
  } else {
    copy_plain(to, source, bytes);
  }
}

}  // namespace headrace

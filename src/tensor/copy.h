// CopyMode: the one copy of a value from its record to its place in the batch.
//
// When the batches in flight exceed a core's share of the last-level cache, a batch is out of it before it is read: values of
// kStreamingBytes and more are then written around the caches, and the records of the next rows stay in. Measured per record
// against memcpy with 16 batches of 256 rows in flight (EPYC 7003, 32 MiB L3, best of 5 on a busy machine): 110 KB strings
// 12.5 to 16.4 us, not read afterwards; 44 KB lists 4.2 to 6.3 and 6.5 to 7.2 us in two runs, with the consumer's read of
// every byte 7.5 to 9.9 and 11.2 to 10.8; 12 KB tensors with that read the same within 2 %. When two batches of 12 KB tensors
// fit the cache, streaming costs 2.8 to 1.7 us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace {

constexpr std::size_t kStreamingBytes = 4096;
/// What one process can count on of the 32 MiB that the cores of a server part share: a ring of 8 MiB is read at 23 GB/s, one
/// of 16 MiB at 8 GB/s, as fast as memory (2 cores of an EPYC 7003). The system is not asked: glibc names the sum over all
/// parts of an EPYC (256 MiB), which no core can use.
constexpr std::int64_t kCachedBytes = std::int64_t{8} << 20;

/// The scalar twin: same result.
inline void copy_plain(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
/// Non-temporal stores where the CPU has them; visible to other threads like any other write when it returns.
void copy_streaming(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);

/// Chosen once per batch and phase.
class CopyMode {
 public:
  CopyMode() = default;
  /// `bytes_in_flight`: memory of the batches that are being made, wait or are with the consumer.
  explicit CopyMode(std::int64_t bytes_in_flight)
      : smallest_streamed_(bytes_in_flight > kCachedBytes ? kStreamingBytes : SIZE_MAX) {}

  void copy(std::uint8_t* to, const void* from, std::size_t bytes) const {
    const auto* source = static_cast<const std::uint8_t*>(from);
    if (bytes >= smallest_streamed_) {
      copy_streaming(to, source, bytes);
    } else {
      copy_plain(to, source, bytes);
    }
  }
  bool streams() const { return smallest_streamed_ == kStreamingBytes; }

 private:
  std::size_t smallest_streamed_ = SIZE_MAX;
};

}  // namespace headrace

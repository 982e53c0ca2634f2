// BufferPool: recycles the memory of batches by size class, so that steady state touches no fresh page.
//
// A buffer is handed out as a shared_ptr and returns to the pool when the last reference goes, from any thread, also after
// the pipeline is gone: each buffer keeps the pool's state alive. All calls may be concurrent. There is no fixed number of
// buffers: a consumer that keeps batches makes the pool allocate, never wait.
#pragma once

#include <cstdint>
#include <memory>

#include "headrace/batch.h"

namespace headrace {

/// Alignment of every column. TensorFlow aborts the process below 64.
constexpr std::size_t kColumnAlignment = 256;

/// Where a pool's memory comes from. All calls may be concurrent.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  /// Aligned to kColumnAlignment; null when there is none.
  virtual std::uint8_t* allocate(std::size_t bytes) = 0;
  /// `data` is what allocate(bytes) gave.
  virtual void free(std::uint8_t* data, std::size_t bytes) = 0;
};

/// The system's memory, every piece aligned to `alignment` (a power of 2, up to 2 MiB); from 2 MiB on in huge pages where the
/// system has them.
std::shared_ptr<HostMemory> system_memory(std::size_t alignment = kColumnAlignment);

class BufferPool {
 public:
  BufferPool();
  explicit BufferPool(std::shared_ptr<HostMemory> memory);
  /// Keeps at most so many bytes on its free lists; what comes back beyond that goes to the system.
  explicit BufferPool(std::int64_t most_free_bytes);

  /// Memory for `bytes` (>= 0), aligned to kColumnAlignment, content arbitrary; null only when the system has none.
  BufferPtr acquire(std::size_t bytes);
  /// The free lists go to the system.
  void drop_free();
  /// Bytes of buffers that are out, and of those on the free lists.
  std::int64_t bytes_in_use() const;
  std::int64_t bytes_free() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headrace

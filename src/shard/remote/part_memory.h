// PartMemory: the memory into which remote files are read ahead, bounded over all of them. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/mutex.h"

namespace headrace {

struct UnmapMemory {
  std::size_t bytes = 0;
  void operator()(std::uint8_t* data) const;
};

/// Empty when there was none. The system's own memory: what is given back is gone, whatever the allocator keeps.
struct MemoryPiece {
  std::unique_ptr<std::uint8_t[], UnmapMemory> data;
  std::size_t capacity = 0;
};

class PartMemory {
 public:
  using Piece = MemoryPiece;

  explicit PartMemory(std::int64_t budget_bytes)
      : budget_(static_cast<std::size_t>(std::max<std::int64_t>(budget_bytes, 1))) {}

  /// A file counts while it is open.
  void add_file() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++files_;
  }
  void remove_file() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    --files_;
  }
  /// What one of the open files may hold.
  std::size_t share() const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return budget_ / std::max<std::size_t>(files_, 1);
  }

  /// At least `bytes`. Over the budget there is one only when it `is_needed`: the reader waits for it.
  Piece take(std::size_t bytes, bool is_needed) HEADRACE_EXCLUDES(mutex_);
  void give(Piece piece) HEADRACE_EXCLUDES(mutex_);

  std::size_t bytes_in_use() const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return used_;
  }

 private:
  const std::size_t budget_;
  mutable Mutex mutex_;
  std::size_t files_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t used_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t free_bytes_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::vector<Piece> free_ HEADRACE_GUARDED_BY(mutex_);  // warm: fresh memory costs a page fault every 4 KiB
};

}  // namespace headrace

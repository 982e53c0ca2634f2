// RecordLoader: reads the records of located blocks, each once, when they are parsed.
//
// Between locating and loading the file may have been changed: the header is compared again, and the checksums as the options
// say. Keeps a few shards open, so that a batch finds its files without a system call. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>

#include "headrace/dataset.h"
#include "record/block.h"
#include "runtime/mutex.h"
#include "shard/file.h"
#include "shard/file_list.h"

namespace headrace {

class RecordLoader {
 public:
  /// `jumps`: the files are read at places that do not follow each other, so that the system reads nothing ahead.
  RecordLoader(std::shared_ptr<const ShardList> shards, Verify verify, bool jumps = false)
      : shards_(std::move(shards)), verify_(verify), jumps_(jumps) {}

  /// Bytes that load() needs for a record of `length` bytes; what is behind the payload may be read.
  static std::size_t room_for(std::uint32_t length);
  /// The file of a shard, for any number of load() calls.
  Result<std::shared_ptr<const File>> open(std::uint32_t shard) HEADRACE_EXCLUDES(mutex_);
  /// Reads record `index` of `block` from its file to `memory` (room_for() bytes) and returns its payload there.
  Result<std::span<const std::uint8_t>> load(const File& file, const RecordBlock& block, std::uint32_t index,
                                             std::uint8_t* memory) const;

 private:
  const std::shared_ptr<const ShardList> shards_;
  const Verify verify_;
  const bool jumps_;
  Mutex mutex_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const File>> open_ HEADRACE_GUARDED_BY(mutex_);  // by shard
  std::deque<std::uint32_t> order_ HEADRACE_GUARDED_BY(mutex_);  // of open_, the last one opened is the last
};

}  // namespace headrace

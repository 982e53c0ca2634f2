// KnownLengths: the lengths of all records of shards that were walked once, so that later epochs need not look at their
// headers. Four bytes a record; beyond a limit nothing more is kept. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/mutex.h"

namespace headrace {

class KnownLengths {
 public:
  using Lengths = std::shared_ptr<const std::vector<std::uint32_t>>;

  /// Of the shard with this index; null when they are not known.
  Lengths find(std::uint32_t shard) const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = shards_.find(shard);
    return found == shards_.end() ? nullptr : found->second;
  }

  void keep(std::uint32_t shard, std::vector<std::uint32_t> lengths) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (records_ + lengths.size() > kMostRecords) return;
    const std::size_t records = lengths.size();
    const auto [place, is_new] =
        shards_.emplace(shard, std::make_shared<const std::vector<std::uint32_t>>(std::move(lengths)));
    if (is_new) records_ += records;
  }

 private:
  static constexpr std::size_t kMostRecords = std::size_t{4} << 20;  // 16 MiB

  mutable Mutex mutex_;
  std::map<std::uint32_t, Lengths> shards_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t records_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace

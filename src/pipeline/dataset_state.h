// What the copies of one Dataset share: the counts that iterators leave behind.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "headrace/dataset.h"
#include "record/shard_indexes.h"

namespace headrace {

struct Dataset::Shared {
  std::atomic<std::int64_t> next_epoch{0};       ///< of the next iterator: how many have delivered at least one batch
  std::atomic<std::int64_t> source_records{-1};  ///< of one epoch, what shard() reads by file or range; -1 = not known
  IndexMemory indexes;

  /// The records of an epoch, when nothing is known of them yet.
  void learn(std::optional<std::int64_t> records) {
    std::int64_t unknown = -1;
    if (records) source_records.compare_exchange_strong(unknown, *records);
  }
};

}  // namespace headrace

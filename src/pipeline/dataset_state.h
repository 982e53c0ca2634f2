// What the copies of one Dataset share: the counts that iterators leave behind.
#pragma once

#include <atomic>
#include <cstdint>

#include "headrace/dataset.h"

namespace headrace {

struct Dataset::Shared {
  std::atomic<std::int64_t> next_epoch{0};       ///< of the next iterator: how many have delivered at least one batch
  std::atomic<std::int64_t> source_records{-1};  ///< of one epoch; -1 = not known
};

}  // namespace headrace

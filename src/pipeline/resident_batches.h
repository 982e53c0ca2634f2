// ResidentBatches: what Dataset::resident() delivers. One caller at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "headrace/batch.h"
#include "headrace/pipeline.h"
#include "headrace/status.h"

namespace headrace {

class ResidentBatches {
 public:
  using Fetch = std::function<Wait(std::chrono::milliseconds, Result<std::optional<Batch>>*)>;

  /// Keeps `keep` batches of `fetch`, fewer when there are no more, and delivers `count`; -1: without end.
  ResidentBatches(std::int64_t keep, std::int64_t count, Fetch fetch);

  /// As Pipeline::next_for(). The columns of a batch are the same memory every time.
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);

 private:
  std::int64_t keep_;
  const std::int64_t count_;
  const Fetch fetch_;
  std::vector<Batch> kept_;
  std::int64_t delivered_ = 0;
};

}  // namespace headrace

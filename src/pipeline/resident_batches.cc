#include "pipeline/resident_batches.h"

#include <utility>

namespace headrace {

ResidentBatches::ResidentBatches(std::int64_t keep, std::int64_t count, Fetch fetch)
    : keep_(keep), count_(count), fetch_(std::move(fetch)) {}

Wait ResidentBatches::next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  if (delivered_ == count_) {
    *batch = std::optional<Batch>();
    return Wait::kReady;
  }
  if (static_cast<std::int64_t>(kept_.size()) < keep_) {
    if (fetch_(timeout, batch) == Wait::kTimeout) return Wait::kTimeout;
    if (!batch->ok()) return Wait::kReady;
    if (batch->value()) {
      kept_.push_back(***batch);
      ++delivered_;
      return Wait::kReady;
    }
    keep_ = static_cast<std::int64_t>(kept_.size());
    if (keep_ == 0) return Wait::kReady;  // the end of nothing
  }
  Batch again = kept_[static_cast<std::size_t>(delivered_ % keep_)];
  again.number = kept_.front().number + delivered_;
  ++delivered_;
  *batch = std::optional<Batch>(std::move(again));
  return Wait::kReady;
}

}  // namespace headrace

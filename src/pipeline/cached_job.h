// CachedJob: a batch that comes out of the cache instead of a parser.
#pragma once

#include <vector>

#include "pipeline/cache_store.h"
#include "tensor/batch_parser.h"

namespace headrace {

class CachedJob final : public ParseJob {
 public:
  /// `cache` outlives it.
  CachedJob(PipelineCache* cache, std::int64_t slot) : cache_(cache), slot_(slot) {}

  int tasks() const override { return 1; }
  void run(int) override { slices_ = cache_->read(slot_); }
  bool finish_phase() override { return false; }
  Result<std::vector<Slice>> take() override { return std::move(slices_); }

 private:
  PipelineCache* const cache_;
  const std::int64_t slot_;
  Result<std::vector<Slice>> slices_ = cancelled("not read yet");
};

}  // namespace headrace

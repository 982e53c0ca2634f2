// BatchStage: the interface of every stage that hands out record batches.
//
// As RecordStage (one calling thread, stop through the token), with whole batches as elements. Outcomes of pull(): a batch;
// nothing = end of the stream; a failure, repeated by every later call. Rows that stand before a failure come first as a
// partial batch unless the remainder is dropped; then the failure says how many rows were withheld.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "batch/record_batch.h"
#include "headrace/status.h"

namespace headrace {

class BatchStage {
 public:
  virtual ~BatchStage() = default;
  virtual Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) = 0;
  virtual void begin_epoch(std::uint64_t epoch) = 0;
  /// Appends the state behind the last batch handed out. pull() has put the same into RecordBatch::state.
  virtual void save(StateDelta* state) = 0;
  virtual Status restore(StateReader* state, RecordFetcher* fetcher) = 0;
};

}  // namespace headrace

// RecordStage: the interface of every stage that hands out records (docs/design/stage_interface.md).
//
// A stage owns its input. One thread, the sequencer, makes all calls; only stop requests come from elsewhere, through the
// token. Outcomes of pull(): n > 0 records were appended; 0 = end of the epoch, nothing was appended, each later call says
// so again until begin_epoch(); a failure, which every later call repeats. Records that stand before an end or a failure
// are handed out first. A stop request makes a blocked pull() fail with kCancelled.
// Runs handed out belong to the caller, who releases them to the BlockPool; so does a stage with records it drops.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "headrace/status.h"
#include "record/stage_state.h"

namespace headrace {

class RecordStage {
 public:
  virtual ~RecordStage() = default;

  /// Appends runs with together at most `max_records` (>= 1) records to `runs` and returns how many records.
  virtual Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                                   const std::stop_token& stop) = 0;

  /// Starts over as epoch `epoch` (it selects the random stream); called before the first pull() and at each repeat.
  /// Records still held for the old epoch are released.
  virtual void begin_epoch(std::uint64_t epoch) = 0;

  /// Epoch of the records of the last pull() less the one that begin_epoch() named; all records of one pull() share it.
  /// Only repeats ever pass 0; stages that see single records hand on what their input says.
  virtual std::uint64_t epoch_offset() const { return 0; }

  /// Appends the state behind the last record handed out.
  virtual void save(StateDelta* state) = 0;

  /// Instead of begin_epoch(): continues behind the record after which the state was saved.
  virtual Status restore(StateReader* state, RecordFetcher* fetcher) = 0;
};

}  // namespace headrace

// InFlight: one batch between the sequencer that cut it and the consumer that takes it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "batch/record_batch.h"
#include "headrace/batch.h"
#include "headrace/status.h"
#include "pipeline/late_rows.h"
#include "tensor/batch_parser.h"

namespace headrace {

/// What the consumer takes from its place in the stream.
///   cut -> parsing -> ready            the usual way
///   cut -> parsing -> parsed -> ready  the sequencer decides in between whether the batch is cut that way
///   end, failed                        markers at the end of the stream, ready from the start
enum class InFlightState : std::uint8_t { kParsing, kParsed, kReady, kEnd };

struct InFlight {
  // written by the sequencer, then by the one thread that finishes a phase
  RecordBatch records;
  std::shared_ptr<RecordPin> pin;  ///< null when nothing of the batch points into its records
  std::optional<LateRows> late;    ///< of records that were only located
  std::unique_ptr<ParseJob> job;
  std::int64_t parsed_rows = 0;  ///< by the job; 0 when it does not parse
  bool is_asked_about = false;   ///< the sequencer waits for its parse; see Executor::find_misfits()
  std::atomic<int> tasks_left{0};
  std::atomic<std::int64_t> parse_ns{0};

  // written before `state` becomes kReady
  std::vector<Slice> slices;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  /// A failure that stands behind `slices`, or instead of them when there are no rows.
  Status failure;

  // guarded by the executor's mutex
  InFlightState state = InFlightState::kParsing;
};

}  // namespace headrace

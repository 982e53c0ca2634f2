// RecordBatch: the records of one global batch in row order, before parsing, and where the stream stands behind it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/stage_state.h"

namespace headrace {

/// Where inside a batch another epoch begins.
struct EpochStart {
  std::int64_t row = 0;
  std::int64_t epoch = 0;
};

struct RecordBatch {
  std::int64_t number = 0;               ///< batches before this one in the stream of this iterator
  std::int64_t epoch = 0;                ///< epoch of the first row
  std::vector<EpochStart> later_epochs;  ///< in row order
  std::int64_t rows = 0;                 ///< sum of the counts of `runs`
  std::vector<RecordRun> runs;           ///< row order
  StateDelta state;                      ///< position behind the last row
  bool cut_short = false;                ///< by a failure in the middle of what `state` has passed
};

/// Takes `rows` (ascending) out of the batch; their records are appended to `taken`, the rows behind them move up.
void take_rows_out(std::span<const std::int64_t> rows, RecordBatch* batch, std::vector<RecordRun>* taken);

}  // namespace headrace

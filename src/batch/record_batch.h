// RecordBatch: the records of one global batch in row order, before parsing, and where the stream stands behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "record/stage_state.h"

namespace headrace {

/// Where inside a batch another epoch begins.
struct EpochStart {
  std::int64_t row = 0;
  std::int64_t epoch = 0;
};

/// Row r has the number first + r * step.
struct RowNumbers {
  std::int64_t first = 0;
  std::int64_t step = 1;
};

class CacheFilling;

/// A batch that a cache of parsed batches keeps, or has.
struct CachePlace {
  std::int64_t slot = 0;
  std::shared_ptr<CacheFilling>
      filling;                     ///< gets what is made of the records; null: the cache has it, there are no records
  bool is_delivered = true;        ///< false: the stream is behind it, it is for the cache alone
  std::int64_t epochs_before = 0;  ///< the cache reads its input as epoch 0, so many before the one that it is in
};

struct RecordBatch {
  std::int64_t number = 0;               ///< batches before this one in the stream of this iterator
  std::int64_t epoch = 0;                ///< epoch of the first row
  std::vector<EpochStart> later_epochs;  ///< in row order
  std::int64_t rows = 0;                 ///< sum of the counts of `runs`, unless a cache has them
  std::int64_t full_rows = 0;            ///< that it would have had, had the records not ended
  std::vector<RecordRun> runs;           ///< row order
  StateDelta state;                      ///< position behind the last row
  std::optional<RowNumbers> numbers;     ///< of enumerate()
  std::optional<CachePlace> cache;       ///< of cache()
  bool cut_short = false;                ///< by a failure in the middle of what `state` has passed
};

/// Whether its rows come out of a cache, not from records.
inline bool is_cached(const RecordBatch& batch) { return batch.cache && batch.cache->filling == nullptr; }
/// Whether the batch is none of the stream: stages behind the cache hand it on and do not count it.
inline bool is_for_cache_alone(const RecordBatch& batch) { return batch.cache && !batch.cache->is_delivered; }

/// Takes `rows` (ascending) out of the batch; their records are appended to `taken`, the rows behind them move up.
void take_rows_out(std::span<const std::int64_t> rows, RecordBatch* batch, std::vector<RecordRun>* taken);

}  // namespace headrace

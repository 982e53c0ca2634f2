#include "batch/record_batch.h"

namespace headrace {
namespace {

void append(const RecordRun& run, std::uint32_t index, std::vector<RecordRun>* runs) {
  if (!runs->empty() && runs->back().block == run.block && runs->back().first + runs->back().count == index) {
    ++runs->back().count;
  } else {
    runs->push_back({run.block, index, 1});
  }
}

// The epochs of the rows that stay, as the batch writes them.
class EpochsOfRows {
 public:
  explicit EpochsOfRows(const RecordBatch& batch) : starts_(batch.later_epochs), epoch_(batch.epoch) {}

  /// The epoch of `row`; rows are asked for in order.
  std::int64_t of(std::int64_t row) {
    for (; next_ < starts_.size() && starts_[next_].row <= row; ++next_) epoch_ = starts_[next_].epoch;
    return epoch_;
  }

 private:
  const std::vector<EpochStart> starts_;
  std::size_t next_ = 0;
  std::int64_t epoch_;
};

}  // namespace

void take_rows_out(std::span<const std::int64_t> rows, RecordBatch* batch, std::vector<RecordRun>* taken) {
  const std::vector<RecordRun> runs = std::move(batch->runs);
  EpochsOfRows epochs(*batch);
  batch->runs.clear();
  batch->later_epochs.clear();
  std::int64_t row = 0;
  std::int64_t kept = 0;
  std::int64_t last_epoch = batch->epoch;
  for (const RecordRun& run : runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++row) {
      if (!rows.empty() && rows.front() == row) {
        rows = rows.subspan(1);
        append(run, run.first + i, taken);
        continue;
      }
      append(run, run.first + i, &batch->runs);
      const std::int64_t epoch = epochs.of(row);
      if (kept == 0) {
        batch->epoch = epoch;
      } else if (epoch != last_epoch) {
        batch->later_epochs.push_back({kept, epoch});
      }
      last_epoch = epoch;
      ++kept;
    }
  }
  batch->rows = kept;
}

}  // namespace headrace

// LateRows: the rows of one batch whose records were only located, read by the tasks that parse them.
#pragma once

#include <memory>
#include <vector>

#include "batch/record_batch.h"
#include "pipeline/rows_here.h"
#include "record/record_loader.h"
#include "runtime/mutex.h"
#include "shard/file.h"
#include "tensor/batch_parser.h"

namespace headrace {

class LateRows final : public RowLoader {
 public:
  /// `loader`, `blocks` and the records of the batch outlive it.
  /// The rows of `here`, of a batch whose first records it counts.
  LateRows(const RecordBatch& records, const RowsHere& here, RecordLoader* loader, BlockPool* blocks);
  ~LateRows() override;

  Result<RecordBytes> load(std::size_t row, RowMemory* memory) override;
  Result<RecordBytes> load_and_keep(std::size_t row) override;
  std::uint8_t* room(std::size_t bytes) override HEADRACE_EXCLUDES(mutex_);
  /// What was kept, as records that the caller releases. Not while rows are loaded.
  std::vector<RecordRun> take_kept() HEADRACE_EXCLUDES(mutex_);

 private:
  struct Row {
    const RecordBlock* block;
    std::uint32_t index;
    std::uint32_t file;  // in files_
    RecordBlock* kept;   // written by the calls for this row alone
  };
  /// Fills files_, and the places in it of all rows.
  void open_files();
  Result<RecordBytes> read(const Row& row, std::uint8_t* memory) const;

  RecordLoader* const loader_;
  BlockPool* const blocks_;
  std::vector<Result<std::shared_ptr<const File>>> files_;  // opened once a batch, so that no row takes a lock
  std::vector<Row> rows_;
  Mutex mutex_;
  std::vector<RecordRun> rooms_ HEADRACE_GUARDED_BY(mutex_);
};

/// True when a record of the batch was only located.
bool has_late_rows(const RecordBatch& records);

/// Time that this thread has spent in LateRows since it last asked.
std::int64_t take_loading_ns();

}  // namespace headrace

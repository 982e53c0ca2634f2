// LateRows: the rows of one batch whose records were only located, read by the tasks that parse them.
#pragma once

#include <memory>
#include <vector>

#include "batch/record_batch.h"
#include "record/record_loader.h"
#include "tensor/batch_parser.h"

namespace headrace {

class LateRows final : public RowLoader {
 public:
  /// `loader`, `blocks` and the records of the batch outlive it.
  LateRows(const RecordBatch& records, RecordLoader* loader, BlockPool* blocks);
  ~LateRows() override;

  Result<RecordBytes> load(std::size_t row, RowMemory* memory) override;
  Result<RecordBytes> load_and_keep(std::size_t row) override;
  /// What was kept, as records that the caller releases.
  std::vector<RecordRun> take_kept();

 private:
  struct Row {
    const RecordBlock* block;
    std::uint32_t index;
    RecordBlock* kept;  // written by the calls for this row alone
  };

  Result<RecordBytes> read(const Row& row, std::uint8_t* memory);

  RecordLoader* const loader_;
  BlockPool* const blocks_;
  std::vector<Row> rows_;
};

/// True when a record of the batch was only located.
bool has_late_rows(const RecordBatch& records);

/// Time that this thread has spent in LateRows since it last asked.
std::int64_t take_loading_ns();

}  // namespace headrace

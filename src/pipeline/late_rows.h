// LateRows: the rows of one batch whose records were only located, read by the tasks that parse them.
#pragma once

#include <memory>
#include <vector>

#include "batch/record_batch.h"
#include "record/record_loader.h"
#include "tensor/batch_parser.h"

namespace headrace {

/// Null when all records of the batch are in memory. `loader`, `blocks` and the records outlive it.
std::unique_ptr<RowLoader> make_late_rows(const RecordBatch& records, RecordLoader* loader, BlockPool* blocks);

/// Time that this thread has spent in LateRows since it last asked.
std::int64_t take_loading_ns();

}  // namespace headrace

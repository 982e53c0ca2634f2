// Wiring: from the ops of a dataset to the chain of stages that hands out record batches.
#pragma once

#include <atomic>
#include <memory>

#include "batch/batch_stage.h"
#include "batch/stages.h"
#include "pipeline/op.h"
#include "record/record_map.h"
#include "record/source.h"

namespace headrace {

/// What the global shuffle reads, from the indexes of `parts`.
std::shared_ptr<const RecordMap> make_map(const std::shared_ptr<const Op>& last, const ShardParts& parts,
                                          const std::vector<RecordIndex>& indexes, bool is_local);

/// The source's options as the ops ask for them.
SourceOptions source_options(const std::shared_ptr<const Op>& last);

/// All stages up to the last one that works on record batches; a shuffle and the repeat beside it become one fused stage.
/// A dataset without batch() is cut into batches of one record. `source_records` gets the records of an epoch once known,
/// and has them where a step needs them. `map`: of a global shuffle; else null.
/// `find_misfits` is asked with on_mismatch="skip" and a schema.
std::unique_ptr<BatchStage> wire_stages(const std::shared_ptr<const Op>& last, const SourceContext& context,
                                        const SourceOptions& options,
                                        std::shared_ptr<std::atomic<std::int64_t>> source_records,
                                        std::shared_ptr<const RecordMap> map, FindMisfits find_misfits);

}  // namespace headrace

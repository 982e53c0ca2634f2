// Wiring: from the ops of a dataset to the chain of stages that hands out record batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "batch/batch_stage.h"
#include "batch/stages.h"
#include "pipeline/dealing.h"
#include "pipeline/op.h"
#include "pipeline/open_sources.h"
#include "record/source.h"

namespace headrace {

/// All stages up to the last one that works on record batches; a shuffle and the repeat beside it become one fused stage.
/// A dataset without batch() is cut into batches of one record. The Shared of a source's chain gets the records of an epoch
/// once known, and has them where a step needs them. `find_misfits` is asked with on_mismatch="skip" and a schema. `dealt_before`: of
/// the state that will be restored.
std::unique_ptr<BatchStage> wire_stages(const std::shared_ptr<const Op>& last, const SourceContext& context,
                                        const OpenSources& sources, FindMisfits find_misfits, BatchCache* cache,
                                        const std::optional<Dealing>& dealt_before);

}  // namespace headrace

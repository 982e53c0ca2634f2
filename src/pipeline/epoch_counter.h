// EpochCounter: a stage that counts the records of its input and tells once a whole epoch was seen.
#pragma once

#include <atomic>
#include <memory>

#include "record/record_stage.h"

namespace headrace {

/// Stores the number of records of the first whole epoch to `*records` unless something is there already (>= 0).
std::unique_ptr<RecordStage> make_epoch_counter(std::unique_ptr<RecordStage> input,
                                                std::shared_ptr<std::atomic<std::int64_t>> records);

}  // namespace headrace

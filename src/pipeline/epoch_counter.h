// EpochCounter: a stage that counts the records of its input, tells once a whole epoch was seen, and compares the number
// with a stated one: files cut between two records look whole, so only who states the number can know.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "record/record_stage.h"

namespace headrace {

/// A failure that says both numbers when an epoch that was stated to have `stated` records has others.
Status compare_cardinality(std::int64_t stated, std::int64_t found);

/// Stores the number of records of the first whole epoch to `*records` unless something is there already (>= 0).
/// An epoch that ends with another number than `stated` ends in a failure, behind all its records.
std::unique_ptr<RecordStage> make_epoch_counter(std::unique_ptr<RecordStage> input,
                                                std::shared_ptr<std::atomic<std::int64_t>> records,
                                                std::optional<std::int64_t> stated = std::nullopt);

}  // namespace headrace

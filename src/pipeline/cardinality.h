// How many elements a stream has, worked out from the ops and the number of records of the source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/dataset_state.h"
#include "pipeline/op.h"

namespace headrace {

constexpr std::int64_t kEndless = -1;

/// Elements behind `last` when its source has `source_records` (by shard(by="file"|"range"): of this share); kEndless for
/// endless streams, nothing where a filter decides. Behind a combination its inputs count, not `source_records`.
/// `ignore_repeat`: of one epoch.
std::optional<std::int64_t> stream_elements(const std::shared_ptr<const Op>& last, std::int64_t source_records,
                                            bool ignore_repeat);

/// As far as the records of the source, or sources, are known by now.
std::optional<std::int64_t> stream_elements(const std::shared_ptr<const Op>& last, const Dataset::Shared& shared);
std::optional<std::int64_t> epoch_elements(const std::shared_ptr<const Op>& last, const Dataset::Shared& shared);

}  // namespace headrace

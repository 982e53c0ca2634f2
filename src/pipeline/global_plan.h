// GlobalPlan: what shuffle("global") permutes. The steps before it only count records, so they become a choice of numbers and
// no stages of their own; repeat() beside it becomes its epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "batch/global_shuffle.h"
#include "pipeline/op.h"

namespace headrace {

struct GlobalPlan {
  std::size_t ops = 0;  ///< that the source stage stands for, from the first one on
  GlobalShuffleOptions shuffle;
};

/// Nothing without a global shuffle. `records`: of the source.
std::optional<GlobalPlan> plan_global_shuffle(const std::vector<const Op*>& ops, std::uint64_t records);

}  // namespace headrace

#include "pipeline/global_plan.h"

#include <algorithm>

namespace headrace {
namespace {

void skip(std::uint64_t count, GlobalShuffleOptions* chosen) {
  const std::uint64_t left_out = std::min(count, chosen->count);
  chosen->count -= left_out;
  if (chosen->count > 0) chosen->first += left_out * chosen->step;
}

void take(std::uint64_t count, GlobalShuffleOptions* chosen) { chosen->count = std::min(chosen->count, count); }

void share(const ShardOp& shard, GlobalShuffleOptions* chosen) {
  const auto workers = static_cast<std::uint64_t>(shard.num_shards);
  const std::uint64_t all = chosen->count;
  skip(static_cast<std::uint64_t>(shard.index), chosen);
  take(shard.options.drop_remainder ? all / workers : chosen->count / workers + (chosen->count % workers > 0 ? 1 : 0),
       chosen);
  // Where one record is left, no other one follows it, however far that would be.
  chosen->step = chosen->count > 1 ? chosen->step * workers : 1;
}

}  // namespace

std::optional<GlobalPlan> plan_global_shuffle(const std::vector<const Op*>& ops, std::uint64_t records) {
  GlobalPlan plan{.shuffle = {.count = records}};
  std::optional<std::int64_t> repeated;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = *ops[i];
    if (const auto* step = std::get_if<TakeOp>(&op.arguments)) {
      if (step->count >= 0) take(static_cast<std::uint64_t>(step->count), &plan.shuffle);
    } else if (const auto* skipped = std::get_if<SkipOp>(&op.arguments)) {
      skip(skipped->count >= 0 ? static_cast<std::uint64_t>(skipped->count) : plan.shuffle.count, &plan.shuffle);
    } else if (const auto* shard = std::get_if<ShardOp>(&op.arguments)) {
      if (shard->options.by == ShardBy::kRecord) share(*shard, &plan.shuffle);
    } else if (const auto* repeat = std::get_if<RepeatOp>(&op.arguments)) {
      repeated = repeat->count;
    } else if (const auto* shuffle = std::get_if<ShuffleOp>(&op.arguments)) {
      if (!shuffle->options.global) return std::nullopt;
      plan.ops = i + 1;
      if (!repeated && i + 1 < ops.size()) {
        const auto* behind = std::get_if<RepeatOp>(&ops[i + 1]->arguments);
        if (behind != nullptr) {
          repeated = behind->count;
          ++plan.ops;
        }
      }
      plan.shuffle.epochs = repeated.value_or(1);
      plan.shuffle.seed = static_cast<std::uint64_t>(*shuffle->options.seed);
      plan.shuffle.reshuffle_each_iteration = shuffle->options.reshuffle_each_iteration;
      plan.shuffle.window_bytes = static_cast<std::uint64_t>(shuffle->options.window_bytes.value_or(0));
      return plan;
    }
  }
  return std::nullopt;
}

}  // namespace headrace

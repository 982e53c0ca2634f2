#include "pipeline/wiring.h"

#include <optional>

#include "batch/global_shuffle.h"
#include "batch/stages.h"
#include "pipeline/cardinality.h"
#include "pipeline/epoch_counter.h"
#include "pipeline/global_plan.h"
#include "pipeline/locate.h"
#include "record/record_locator.h"

namespace headrace {
namespace {

// Puts one stage behind another. The id of a stage is its place among the ops that decide the order, so that saved
// positions do not depend on parse() and the like.
class Wiring {
 public:
  Wiring(std::unique_ptr<RecordStage> source, std::int64_t source_records, const SourceContext& context,
         bool skips_misfits, FindMisfits find_misfits)
      : records_(std::move(source)),
        source_records_(source_records),
        blocks_(context.blocks),
        shards_(context.shards),
        skipped_(context.skipped),
        skips_misfits_(skips_misfits),
        find_misfits_(std::move(find_misfits)) {}

  void add(const Op& op, const Op* next) {
    if (fused_with_previous_) {
      fused_with_previous_ = false;
      ++stage_id_;
    } else if (const auto* repeat = std::get_if<RepeatOp>(&op.arguments)) {
      ++stage_id_;
      const auto* shuffle = next != nullptr ? std::get_if<ShuffleOp>(&next->arguments) : nullptr;
      if (records_ && shuffle != nullptr && !shuffle->options.mix_epochs) {
        add_shuffle(*shuffle, repeat->count);
        fused_with_previous_ = true;
      } else if (records_) {
        records_ = make_repeat(context(), std::move(records_), repeat->count);
      } else {
        batches_ = make_repeat_batches(context(), std::move(batches_), repeat->count);
      }
    } else if (const auto* shuffle = std::get_if<ShuffleOp>(&op.arguments)) {
      ++stage_id_;
      const auto* repeat_behind = next != nullptr ? std::get_if<RepeatOp>(&next->arguments) : nullptr;
      add_shuffle(*shuffle, repeat_behind != nullptr ? repeat_behind->count : 1);
      fused_with_previous_ = repeat_behind != nullptr;
    } else if (const auto* shard = std::get_if<ShardOp>(&op.arguments)) {
      ++stage_id_;
      if (shard->options.by == ShardBy::kRecord) add_shard(op, *shard);
    } else if (const auto* filter = std::get_if<FilterOp>(&op.arguments)) {
      ++stage_id_;
      records_ = make_filter(context(), std::move(records_), filter->filter);
    } else if (const auto* take = std::get_if<TakeOp>(&op.arguments)) {
      ++stage_id_;
      if (records_) {
        records_ = make_take(context(), std::move(records_), take->count);
      } else {
        batches_ = make_take_batches(context(), std::move(batches_), take->count);
      }
    } else if (const auto* skip = std::get_if<SkipOp>(&op.arguments)) {
      ++stage_id_;
      if (records_) {
        records_ = make_skip(context(), std::move(records_), skip->count);
      } else {
        batches_ = make_skip_batches(context(), std::move(batches_), skip->count);
      }
    } else if (const auto* batch = std::get_if<BatchOp>(&op.arguments)) {
      ++stage_id_;
      batches_ =
          make_batch(context(), std::move(records_), batch->options.size, batch->options.drop_remainder, find_misfits_);
    }
  }

  std::unique_ptr<BatchStage> finish() {
    if (records_) {
      ++stage_id_;
      batches_ = make_batch(context(), std::move(records_), 1, false);
    }
    return std::move(batches_);
  }

 private:
  StageContext context() const {
    StageContext context{.op_id = stage_id_, .blocks = blocks_};
    context.locate = [shards = shards_](const RecordId& id) { return where_of(id, *shards); };
    if (skips_misfits_) context.skip = [log = skipped_](const SkippedRegion& region) { return log->add(region); };
    return context;
  }

  void add_shard(const Op& op, const ShardOp& shard) {
    records_ = make_shard(context(), std::move(records_), shard.num_shards, shard.index);
    if (!shard.options.drop_remainder) return;
    const std::optional<std::int64_t> input = stream_elements(op.input, source_records_, false);
    if (input && *input != kEndless) records_ = make_take(context(), std::move(records_), *input / shard.num_shards);
  }

  void add_shuffle(const ShuffleOp& shuffle, std::int64_t epochs) {
    records_ = make_shuffle(context(), std::move(records_),
                            {.buffer_size = shuffle.options.buffer_size,
                             .seed = static_cast<std::uint64_t>(*shuffle.options.seed),
                             .reshuffle_each_iteration = shuffle.options.reshuffle_each_iteration,
                             .epochs = epochs});
  }

  std::unique_ptr<RecordStage> records_;
  const std::int64_t source_records_;    // -1 = not known, which no step needs
  std::unique_ptr<BatchStage> batches_;  // once batch() was met
  BlockPool* const blocks_;
  const std::shared_ptr<const ShardList> shards_;
  SkipLog* const skipped_;
  const bool skips_misfits_;
  const FindMisfits find_misfits_;
  std::uint32_t stage_id_ = 0;
  bool fused_with_previous_ = false;  // this op is the second half of a fused shuffle and repeat
};

}  // namespace

std::shared_ptr<const RecordMap> make_map(const std::shared_ptr<const Op>& last, const ShardParts& parts,
                                          const std::vector<RecordIndex>& indexes, bool is_local) {
  const auto* shuffle = find_op<ShuffleOp>(last);
  // As with the interleave: a filter must see the records, and who skips damaged ones must know of them before.
  const bool is_late = is_local && find_op<FilterOp>(last) == nullptr &&
                       find_op<SourceOp>(last)->options.on_corrupt == OnCorrupt::kRaise;
  return std::make_shared<RecordMap>(parts, indexes, shuffle->options.window_bytes ? kPieceBytes : 0,
                                     is_late ? std::optional(kLateBytes) : std::nullopt);
}

SourceOptions source_options(const std::shared_ptr<const Op>& last) {
  SourceOptions options;
  options.read = find_op<SourceOp>(last)->options;
  if (const auto* interleave = find_op<InterleaveOp>(last)) {
    options.cycle_length = interleave->options.cycle_length;
    options.block_length = interleave->options.block_length;
  }
  // Without a shuffle, records are parsed while what was read is still in the cache. A filter must see them.
  const auto* shuffle = find_op<ShuffleOp>(last);
  options.late_reading = shuffle != nullptr && shuffle->options.buffer_size > 1 && find_op<FilterOp>(last) == nullptr;
  return options;
}

std::unique_ptr<BatchStage> wire_stages(const std::shared_ptr<const Op>& last, const SourceContext& context,
                                        const SourceOptions& options,
                                        std::shared_ptr<std::atomic<std::int64_t>> source_records,
                                        std::shared_ptr<const RecordMap> map, FindMisfits find_misfits) {
  // Who skips damaged records has said that some may be missing.
  std::optional<std::int64_t> stated;
  const auto* cardinality = find_op<CardinalityOp>(last);
  if (cardinality != nullptr && options.read.on_corrupt == OnCorrupt::kRaise) stated = cardinality->records;
  const bool skips_misfits = options.read.on_mismatch == OnMismatch::kSkip;
  if (!skips_misfits || find_op<ParseOp>(last) == nullptr) find_misfits = nullptr;
  const std::vector<const Op*> ops = ops_in_order(last);
  const std::int64_t known = *source_records;
  std::unique_ptr<RecordStage> source;
  std::optional<GlobalPlan> global;
  if (map != nullptr) {
    global = plan_global_shuffle(ops, map->records());
    global->shuffle.record_budget_bytes = options.record_budget_bytes;
    source = make_global_shuffle(context, options.read, std::move(map), global->shuffle);
  } else {
    source = make_epoch_counter(make_source(context, options), std::move(source_records), stated);
  }
  Wiring wiring(std::move(source), known, context, skips_misfits, std::move(find_misfits));
  for (std::size_t i = global ? global->ops : 0; i < ops.size(); ++i)
    wiring.add(*ops[i], i + 1 < ops.size() ? ops[i + 1] : nullptr);
  return wiring.finish();
}

}  // namespace headrace

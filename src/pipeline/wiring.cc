#include "pipeline/wiring.h"

#include <optional>

#include "batch/stages.h"
#include "pipeline/epoch_counter.h"
#include "pipeline/locate.h"

namespace headrace {
namespace {

// Files of one record are opened and read one by one, often small ones: so many wait for the disk at a time.
constexpr int kFilesAhead = 16;

// Puts one stage behind another. The id of a stage is its place among the ops that decide the order, so that saved
// positions do not depend on parse() and the like.
class Wiring {
 public:
  Wiring(std::unique_ptr<RecordStage> source, const SourceContext& context, bool skips_misfits,
         FindMisfits find_misfits)
      : records_(std::move(source)),
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
      records_ = make_shard(context(), std::move(records_), shard->num_shards, shard->index);
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

  void add_shuffle(const ShuffleOp& shuffle, std::int64_t epochs) {
    records_ = make_shuffle(context(), std::move(records_),
                            {.buffer_size = shuffle.options.buffer_size,
                             .seed = static_cast<std::uint64_t>(*shuffle.options.seed),
                             .reshuffle_each_iteration = shuffle.options.reshuffle_each_iteration,
                             .epochs = epochs});
  }

  std::unique_ptr<RecordStage> records_;
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

SourceOptions source_options(const std::shared_ptr<const Op>& last) {
  SourceOptions options;
  const auto* source = find_op<SourceOp>(last);
  options.read = source->options;
  if (source->whole_files) {
    const bool is_parsed = find_op<ParseOp>(last) != nullptr || find_op<FilterOp>(last) != nullptr;
    options.record = is_parsed ? RecordKind::kFileExample : RecordKind::kFile;
    options.shards_ahead = kFilesAhead;
  }
  if (const auto* interleave = find_op<InterleaveOp>(last)) {
    options.cycle_length = interleave->options.cycle_length;
    options.block_length = interleave->options.block_length;
  }
  // Without a shuffle, records are parsed while what was read is still in the cache. A filter must see them.
  const auto* shuffle = find_op<ShuffleOp>(last);
  options.late_reading = shuffle != nullptr && shuffle->options.buffer_size > 1 && find_op<FilterOp>(last) == nullptr &&
                         !source->whole_files;
  return options;
}

std::unique_ptr<BatchStage> wire_stages(const std::shared_ptr<const Op>& last, const SourceContext& context,
                                        const SourceOptions& options,
                                        std::shared_ptr<std::atomic<std::int64_t>> source_records,
                                        FindMisfits find_misfits) {
  // Who skips damaged records has said that some may be missing.
  std::optional<std::int64_t> stated;
  const auto* cardinality = find_op<CardinalityOp>(last);
  if (cardinality != nullptr && options.read.on_corrupt == OnCorrupt::kRaise) stated = cardinality->records;
  const bool skips_misfits = options.read.on_mismatch == OnMismatch::kSkip;
  if (!skips_misfits || find_op<ParseOp>(last) == nullptr) find_misfits = nullptr;
  Wiring wiring(make_epoch_counter(make_source(context, options), std::move(source_records), stated), context,
                skips_misfits, std::move(find_misfits));
  const std::vector<const Op*> ops = ops_in_order(last);
  for (std::size_t i = 0; i < ops.size(); ++i) wiring.add(*ops[i], i + 1 < ops.size() ? ops[i + 1] : nullptr);
  return wiring.finish();
}

}  // namespace headrace

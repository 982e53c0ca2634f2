#include "pipeline/wiring.h"

#include <optional>

#include "batch/global_shuffle.h"
#include "batch/stages.h"
#include "pipeline/cardinality.h"
#include "pipeline/combine.h"
#include "pipeline/epoch_counter.h"
#include "pipeline/global_plan.h"
#include "pipeline/locate.h"

namespace headrace {
namespace {

// Puts one stage behind another. The id of a stage is its place among the ops that decide the order, those of combined
// datasets first, so that saved positions do not depend on parse() and the like.
class Wiring {
 public:
  Wiring(const SourceContext& context, const OpenSources& sources, bool skips_misfits, FindMisfits find_misfits,
         BatchCache* cache, const Op* dealing, const std::optional<Dealing>& dealt_before)
      : context_(context),
        sources_(sources),
        skips_misfits_(skips_misfits),
        find_misfits_(std::move(find_misfits)),
        cache_(cache),
        dealing_(dealing),
        dealt_before_(dealt_before) {}

  void add_all(const std::shared_ptr<const Op>& last) {
    const std::vector<const Op*> ops = ops_in_order(last);
    const auto* combine = std::get_if<CombineOp>(&ops.front()->arguments);
    std::size_t next = 0;
    if (combine != nullptr) {
      add_combination(*combine);
      source_records_ = -1;
    } else {
      next = add_source(ops);
    }
    parsed_batches_ = batching_op(last);
    for (; next < ops.size(); ++next) add(*ops[next], next + 1 < ops.size() ? ops[next + 1] : nullptr);
  }

  std::unique_ptr<BatchStage> finish() {
    if (records_) {
      ++stage_id_;
      batches_ = make_batch(context(), std::move(records_), 1, false);
    }
    return std::move(batches_);
  }

 private:
  // The ops that the source stands for.
  std::size_t add_source(const std::vector<const Op*>& ops) {
    const OpenSource& source = sources_.each[next_source_++];
    const std::shared_ptr<Dataset::Shared>& shared = source.chain.shared;
    source_records_ = shared->source_records;
    SourceContext context = context_;
    context.parts = std::make_shared<const ShardParts>(source.assignment.parts);
    if (source.map != nullptr) {
      const GlobalPlan global = *plan_global_shuffle(ops, source.map->records());
      records_ = make_global_shuffle(context, source.options.read, source.map, global.shuffle);
      return global.ops;
    }
    SourceOptions options = source.options;
    // Who skips damaged records has said that some may be missing.
    std::optional<std::int64_t> stated;
    const auto* cardinality = find_op<CardinalityOp>(source.chain.last);
    if (cardinality != nullptr && options.read.on_corrupt == OnCorrupt::kRaise) stated = cardinality->records;
    records_ = make_epoch_counter(make_source(context, options),
                                  std::shared_ptr<std::atomic<std::int64_t>>(shared, &shared->source_records), stated);
    return 1;
  }

  void add_combination(const CombineOp& combine) {
    std::vector<std::unique_ptr<RecordStage>> inputs;
    for (const CombinedInput& input : combine.inputs) {
      add_all(input.last);
      fused_with_previous_ = false;
      inputs.push_back(std::move(records_));
    }
    ++stage_id_;
    if (std::optional<ChoiceOptions> choices = choice_options(combine)) {
      records_ = make_choose(context(), std::move(inputs), std::move(*choices), stops_on_empty(combine));
    } else {
      records_ = make_concatenate(std::move(inputs));
    }
  }

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
      batches_ = make_batch(context(), std::move(records_), batch->options.size, batch->options.drop_remainder,
                            &op == parsed_batches_ ? find_misfits_ : nullptr);
      if (numbers_of_rows_) {
        batches_ = make_enumerate(context(), std::move(batches_), *numbers_of_rows_, Enumerate::kRows);
      }
    } else if (const auto* bucket = std::get_if<BucketOp>(&op.arguments)) {
      ++stage_id_;
      batches_ = make_bucket_batches(context(), std::move(records_), bucket->options);
    } else if (std::holds_alternative<UnbatchOp>(op.arguments)) {
      ++stage_id_;
      records_ = make_unbatch(context(), std::move(batches_));
    } else if (std::holds_alternative<CacheOp>(op.arguments)) {
      ++stage_id_;
      batches_ = make_cache(context(), std::move(batches_), cache_);
    } else if (const auto* enumerate = std::get_if<EnumerateOp>(&op.arguments)) {
      ++stage_id_;
      if (records_) {
        numbers_of_rows_ = enumerate->start;
      } else {
        batches_ = make_enumerate(context(), std::move(batches_), enumerate->start, Enumerate::kBatches);
      }
    }
  }

  StageContext context() const {
    StageContext context{.op_id = stage_id_, .blocks = context_.blocks};
    context.locate = [shards = context_.shards](const RecordId& id) { return where_of(id, *shards); };
    if (skips_misfits_)
      context.skip = [log = context_.skipped](const SkippedRegion& region) { return log->add(region); };
    return context;
  }

  void add_shard(const Op& op, const ShardOp& shard) {
    std::optional<std::int64_t> before;
    if (&op == dealing_ && dealt_before_) before = dealt_before_->num_shards;
    records_ = make_shard(context(), std::move(records_), shard.num_shards, shard.index, before);
    if (!shard.options.drop_remainder) return;
    const std::optional<std::int64_t> input = stream_elements(op.input, source_records_, false);
    if (!input || *input == kEndless) return;
    std::optional<EqualShares> shares;
    if (before) shares = {.records = *input, .workers = *before, .workers_now = shard.num_shards};
    records_ = make_take(context(), std::move(records_), *input / shard.num_shards, shares);
  }

  void add_shuffle(const ShuffleOp& shuffle, std::int64_t epochs) {
    records_ = make_shuffle(context(), std::move(records_),
                            {.buffer_size = shuffle.options.buffer_size,
                             .seed = static_cast<std::uint64_t>(*shuffle.options.seed),
                             .reshuffle_each_iteration = shuffle.options.reshuffle_each_iteration,
                             .epochs = epochs});
  }

  const SourceContext& context_;
  const OpenSources& sources_;
  const bool skips_misfits_;
  const FindMisfits find_misfits_;
  BatchCache* const cache_;  // of cache(); else null
  const Op* const dealing_;  // the shard() that dealt_before_ is about
  const std::optional<Dealing>& dealt_before_;
  const Op* parsed_batches_ = nullptr;           // makes the batches that are parsed
  std::optional<std::int64_t> numbers_of_rows_;  // an enumerate() that counts the rows of the batches to come
  std::size_t next_source_ = 0;
  std::int64_t source_records_ = -1;  // of the chain that is wired; -1 = not known, which no step of it needs
  std::unique_ptr<RecordStage> records_;
  std::unique_ptr<BatchStage> batches_;  // once batch() was met
  std::uint32_t stage_id_ = 0;
  bool fused_with_previous_ = false;  // this op is the second half of a fused shuffle and repeat
};

}  // namespace

std::unique_ptr<BatchStage> wire_stages(const std::shared_ptr<const Op>& last, const SourceContext& context,
                                        const OpenSources& sources, FindMisfits find_misfits, BatchCache* cache,
                                        const std::optional<Dealing>& dealt_before) {
  const bool skips_misfits = read_options(last).on_mismatch == OnMismatch::kSkip;
  if (!skips_misfits || find_op<ParseOp>(last) == nullptr) find_misfits = nullptr;
  Wiring wiring(context, sources, skips_misfits, std::move(find_misfits), cache, dealing_op(last), dealt_before);
  wiring.add_all(last);
  return wiring.finish();
}

}  // namespace headrace

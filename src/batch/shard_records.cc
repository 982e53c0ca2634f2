#include <algorithm>
#include <optional>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

/// Records asked of the input with one call: a stop request is looked at in between.
constexpr std::uint64_t kAskedAtOnce = 4096;

class ShardStage final : public RecordStage {
 public:
  ShardStage(BlockPool* blocks, std::unique_ptr<RecordStage> input, std::int64_t num_shards, std::int64_t index,
             std::optional<std::int64_t> shards_before)
      : blocks_(blocks),
        input_(std::move(input)),
        num_shards_(static_cast<std::uint64_t>(num_shards)),
        index_(static_cast<std::uint64_t>(index)),
        shards_before_(shards_before) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    if (num_shards_ == 1) return input_->pull(max_records, runs, stop);
    std::size_t kept = 0;
    while (kept == 0) {
      if (stop.stop_requested()) return stopped_between_pulls();
      // Up to the last record that is kept and none further.
      const std::uint64_t more = std::min<std::uint64_t>(max_records - 1, kAskedAtOnce / num_shards_);
      const std::uint64_t ask = std::min(distance() + 1, kAskedAtOnce) + more * num_shards_;
      asked_.clear();
      auto got = input_->pull(static_cast<std::size_t>(ask), &asked_, stop);
      if (!got.ok() || *got == 0) return got;
      kept = split(runs);
    }
    return kept;
  }

  void begin_epoch(std::uint64_t epoch) override {
    seen_ = 0;
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return input_->epoch_offset(); }

  void save(StateDelta* state) override {
    input_->save(state);
    if (num_shards_ > 1) state->words.push_back(seen_);
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    const std::int64_t shards = shards_before_.value_or(static_cast<std::int64_t>(num_shards_));
    std::int64_t seen = 0;
    if (shards > 1) {
      HEADRACE_ASSIGN_OR_RETURN(seen, count_word(state, shards - 1));
    }
    if (shards_before_) return pass_over(static_cast<std::uint64_t>(seen == 0 ? 0 : shards - seen));
    seen_ = static_cast<std::uint64_t>(seen);
    return {};
  }

 private:
  /// Releases the next `count` records of the input, which other workers had in the round that was begun.
  Status pass_over(std::uint64_t count) {
    while (count > 0) {
      dropped_.clear();
      HEADRACE_ASSIGN_OR_RETURN(
          const std::size_t got,
          input_->pull(static_cast<std::size_t>(std::min(count, kAskedAtOnce)), &dropped_, std::stop_token()));
      blocks_->release(dropped_);
      if (got == 0) break;
      count -= got;
    }
    return {};
  }

  /// Records before the next one that is kept.
  std::uint64_t distance() const { return index_ >= seen_ ? index_ - seen_ : index_ + num_shards_ - seen_; }

  /// Appends what is kept of asked_ to `runs`, releases the rest, returns how many were kept.
  std::size_t split(std::vector<RecordRun>* runs) {
    std::size_t kept = 0;
    dropped_.clear();
    for (const RecordRun& run : asked_) {
      std::uint64_t done = 0;
      for (std::uint64_t next = distance(); next < run.count; next += num_shards_) {
        drop(run, done, next);
        runs->push_back({run.block, run.first + static_cast<std::uint32_t>(next), 1});
        done = next + 1;
        ++kept;
      }
      drop(run, done, run.count);
      seen_ = (seen_ + run.count) % num_shards_;
    }
    blocks_->release(dropped_);
    return kept;
  }

  void drop(const RecordRun& run, std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    dropped_.push_back(
        {run.block, run.first + static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)});
  }

  BlockPool* const blocks_;
  const std::unique_ptr<RecordStage> input_;
  const std::uint64_t num_shards_;
  const std::uint64_t index_;
  /// num_shards of the state to restore, where it is another dealing.
  const std::optional<std::int64_t> shards_before_;
  std::uint64_t seen_ = 0;  ///< records of the input so far, modulo num_shards_
  std::vector<RecordRun> asked_;
  std::vector<RecordRun> dropped_;
};

}  // namespace

std::unique_ptr<RecordStage> make_shard(const StageContext& context, std::unique_ptr<RecordStage> input,
                                        std::int64_t num_shards, std::int64_t index,
                                        std::optional<std::int64_t> shards_before) {
  if (num_shards == 1 && !shards_before) return input;
  return std::make_unique<ShardStage>(context.blocks, std::move(input), num_shards, index, shards_before);
}

}  // namespace headrace

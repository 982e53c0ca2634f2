#include <algorithm>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

/// Records dropped with one call of the input: a stop request is looked at in between.
constexpr std::int64_t kDroppedAtOnce = 4096;

class SkipStage final : public RecordStage {
 public:
  SkipStage(BlockPool* blocks, std::unique_ptr<RecordStage> input, std::int64_t count)
      : blocks_(blocks), input_(std::move(input)), count_(count) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    while (skipped_ < count_) {
      if (stop.stop_requested()) return stopped_between_pulls();
      const std::int64_t left = std::min(count_ - skipped_, kDroppedAtOnce);
      dropped_.clear();
      auto got = input_->pull(static_cast<std::size_t>(left), &dropped_, stop);
      if (!got.ok() || *got == 0) return got;
      blocks_->release(dropped_);
      skipped_ += static_cast<std::int64_t>(*got);
    }
    return input_->pull(max_records, runs, stop);
  }

  void begin_epoch(std::uint64_t epoch) override {
    skipped_ = 0;
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return input_->epoch_offset(); }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.push_back(static_cast<std::uint64_t>(skipped_));
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(skipped_, count_word(state, count_));
    return {};
  }

 private:
  BlockPool* const blocks_;
  const std::unique_ptr<RecordStage> input_;
  const std::int64_t count_;
  std::int64_t skipped_ = 0;
  std::vector<RecordRun> dropped_;
};

}  // namespace

std::unique_ptr<RecordStage> make_skip(const StageContext& context, std::unique_ptr<RecordStage> input,
                                       std::int64_t count) {
  // skip(-1) leaves nothing, without reading anything.
  if (count < 0) return make_take(context, std::move(input), 0);
  return std::make_unique<SkipStage>(context.blocks, std::move(input), count);
}

}  // namespace headrace

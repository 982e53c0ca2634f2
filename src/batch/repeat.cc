#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class RepeatStage final : public RecordStage {
 public:
  RepeatStage(std::unique_ptr<RecordStage> input, std::int64_t count) : input_(std::move(input)), count_(count) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    if (count_ == 0) return std::size_t{0};
    while (true) {
      if (stop.stop_requested()) return stopped_between_pulls();
      auto got = input_->pull(max_records, runs, stop);
      if (!got.ok()) return got;
      if (*got > 0) {
        empty_ = false;
        return got;
      }
      // An empty epoch ends a counted repeat: the epochs behind it would be empty, too.
      if (empty_ && count_ < 0) return nothing_to_repeat();
      if (empty_ || epoch_ + 1 == static_cast<std::uint64_t>(count_)) return std::size_t{0};
      ++epoch_;
      empty_ = true;
      input_->begin_epoch(first_epoch_ + epoch_);
    }
  }

  void begin_epoch(std::uint64_t epoch) override {
    first_epoch_ = epoch;
    epoch_ = 0;
    empty_ = true;
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return epoch_ + input_->epoch_offset(); }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.insert(state->words.end(), {first_epoch_, epoch_, empty_ ? 1U : 0U});
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t empty, count_word(state, 1));
    empty_ = empty == 1;
    return {};
  }

 private:
  const std::unique_ptr<RecordStage> input_;
  const std::int64_t count_;
  std::uint64_t first_epoch_ = 0;
  std::uint64_t epoch_ = 0;  ///< of the input, less first_epoch_
  bool empty_ = true;        ///< no record of this epoch came yet
};

}  // namespace

std::unique_ptr<RecordStage> make_repeat(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count) {
  return std::make_unique<RepeatStage>(std::move(input), count);
}

}  // namespace headrace

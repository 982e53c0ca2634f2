#include <algorithm>
#include <optional>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class TakeStage final : public RecordStage {
 public:
  TakeStage(std::unique_ptr<RecordStage> input, std::int64_t count, std::optional<EqualShares> before)
      : input_(std::move(input)), count_(count), before_(before) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    if (taken_ == count_) return std::size_t{0};
    const std::uint64_t left = static_cast<std::uint64_t>(count_ - taken_);
    auto got = input_->pull(static_cast<std::size_t>(std::min<std::uint64_t>(max_records, left)), runs, stop);
    if (got.ok()) taken_ += static_cast<std::int64_t>(*got);
    return got;
  }

  void begin_epoch(std::uint64_t epoch) override {
    taken_ = 0;
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return input_->epoch_offset(); }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.push_back(static_cast<std::uint64_t>(taken_));
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(taken_, count_word(state, before_ ? before_->records / before_->workers : count_));
    if (!before_) return {};
    // What is left of the epoch is shared out equally again.
    const std::int64_t left = before_->records - taken_ * before_->workers;
    taken_ = count_ - left / before_->workers_now;
    return {};
  }

 private:
  const std::unique_ptr<RecordStage> input_;
  const std::int64_t count_;
  const std::optional<EqualShares> before_;  ///< of the state to restore, where it is another dealing
  std::int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<RecordStage> make_take(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count,
                                       std::optional<EqualShares> before) {
  if (count < 0) return input;
  return std::make_unique<TakeStage>(std::move(input), count, before);
}

}  // namespace headrace

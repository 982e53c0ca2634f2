#include "pipeline/epoch_counter.h"

#include <string>

#include "runtime/stall.h"

namespace headrace {
namespace {

class EpochCounter final : public RecordStage {
 public:
  EpochCounter(std::unique_ptr<RecordStage> input, std::shared_ptr<std::atomic<std::int64_t>> records,
               std::optional<std::int64_t> stated)
      : input_(std::move(input)), records_(std::move(records)), stated_(stated) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    random_stall();
    Result<std::size_t> pulled = input_->pull(max_records, runs, stop);
    if (!pulled.ok()) return pulled;
    seen_ += static_cast<std::int64_t>(*pulled);
    if (*pulled == 0) {
      if (stated_) HEADRACE_RETURN_IF_ERROR(compare_cardinality(*stated_, seen_));
      std::int64_t unknown = -1;
      records_->compare_exchange_strong(unknown, seen_);
    }
    return pulled;
  }

  void begin_epoch(std::uint64_t epoch) override {
    seen_ = 0;
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.push_back(static_cast<std::uint64_t>(seen_));
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t seen, state->word());
    seen_ = static_cast<std::int64_t>(seen);
    return {};
  }

 private:
  const std::unique_ptr<RecordStage> input_;
  const std::shared_ptr<std::atomic<std::int64_t>> records_;
  const std::optional<std::int64_t> stated_;
  std::int64_t seen_ = 0;
};

}  // namespace

Status compare_cardinality(std::int64_t stated, std::int64_t found) {
  if (stated == found) return {};
  const std::string text = "assert_cardinality(records=" + std::to_string(stated) + "): the files hold " +
                           std::to_string(found) + " records";
  return found < stated ? data_loss(text) : invalid_argument(text);
}

std::unique_ptr<RecordStage> make_epoch_counter(std::unique_ptr<RecordStage> input,
                                                std::shared_ptr<std::atomic<std::int64_t>> records,
                                                std::optional<std::int64_t> stated) {
  return std::make_unique<EpochCounter>(std::move(input), std::move(records), stated);
}

}  // namespace headrace

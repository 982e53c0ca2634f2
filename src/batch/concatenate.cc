#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class ConcatenateStage final : public RecordStage {
 public:
  explicit ConcatenateStage(std::vector<std::unique_ptr<RecordStage>> inputs) : inputs_(std::move(inputs)) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    for (; current_ < inputs_.size(); ++current_) {
      if (stop.stop_requested()) return stopped_between_pulls();
      auto got = inputs_[current_]->pull(max_records, runs, stop);
      if (!got.ok() || *got > 0) return got;
    }
    return std::size_t{0};
  }

  void begin_epoch(std::uint64_t epoch) override {
    current_ = 0;
    for (const auto& input : inputs_) input->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    for (const auto& input : inputs_) input->save(state);
    state->words.push_back(current_);
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    for (const auto& input : inputs_) HEADRACE_RETURN_IF_ERROR(input->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t current, count_word(state, std::ssize(inputs_)));
    current_ = static_cast<std::size_t>(current);
    return {};
  }

 private:
  const std::vector<std::unique_ptr<RecordStage>> inputs_;
  std::size_t current_ = 0;  ///< those before it have ended
};

}  // namespace

std::unique_ptr<RecordStage> make_concatenate(std::vector<std::unique_ptr<RecordStage>> inputs) {
  return std::make_unique<ConcatenateStage>(std::move(inputs));
}

}  // namespace headrace

// enumerate: each row, or each batch, has its number.
#include <utility>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class EnumerateStage final : public BatchStage {
 public:
  EnumerateStage(std::unique_ptr<BatchStage> input, std::int64_t start, Enumerate what)
      : input_(std::move(input)), start_(start), what_(what) {}

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    auto batch = input_->pull(stop);
    if (!batch.ok() || !batch->has_value()) return batch;
    const bool counts_rows = what_ == Enumerate::kRows;
    // Numbers wrap, as TensorFlow's do.
    (*batch)->numbers = {static_cast<std::int64_t>(static_cast<std::uint64_t>(start_) + counted_), counts_rows ? 1 : 0};
    counted_ += counts_rows ? static_cast<std::uint64_t>((*batch)->rows) : 1;
    save_words(&(*batch)->state);
    return batch;
  }

  void begin_epoch(std::uint64_t epoch) override {
    counted_ = 0;
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    input_->save(state);
    save_words(state);
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(counted_, state->word());
    return {};
  }

 private:
  void save_words(StateDelta* state) const { state->words.push_back(counted_); }

  const std::unique_ptr<BatchStage> input_;
  const std::int64_t start_;
  const Enumerate what_;
  std::uint64_t counted_ = 0;  ///< in this epoch
};

}  // namespace

std::unique_ptr<BatchStage> make_enumerate(const StageContext&, std::unique_ptr<BatchStage> input, std::int64_t start,
                                           Enumerate what) {
  return std::make_unique<EnumerateStage>(std::move(input), start, what);
}

}  // namespace headrace

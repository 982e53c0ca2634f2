// cache: batches are read once, then come from the cache of parsed batches.
//
// The input is always read as epoch 0, from its start: so what is cached is the same whichever epoch, iterator or process
// has filled the cache, and a position is no more than the number of batches handed out. A restored stage whose cache is not
// whole reads the batches in front of the position again, for the cache alone.
//
//   begin_epoch() -> undecided -> reading  -> ended      the cache was not whole: its batches are kept
//                              -> serving  -> ended      it was
#include <utility>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

enum class Phase : std::uint8_t { kUndecided, kReading, kServing, kEnded };

class CacheStage final : public BatchStage {
 public:
  CacheStage(std::unique_ptr<BatchStage> input, BatchCache* cache) : input_(std::move(input)), cache_(cache) {}

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    if (phase_ == Phase::kUndecided) HEADRACE_RETURN_IF_ERROR(decide(stop));
    if (phase_ == Phase::kReading) return read(stop);
    if (phase_ == Phase::kServing && next_ < batches_) return serve();
    phase_ = Phase::kEnded;
    return std::optional<RecordBatch>();
  }

  void begin_epoch(std::uint64_t epoch) override {
    epoch_ = epoch;
    next_ = to_pass_ = 0;
    phase_ = Phase::kUndecided;
  }

  void save(StateDelta* state) override {
    state->words.insert(state->words.end(),
                        {epoch_, static_cast<std::uint64_t>(next_ + to_pass_), static_cast<std::uint64_t>(number_)});
  }

  Status restore(StateReader* state, RecordFetcher*) override {
    HEADRACE_ASSIGN_OR_RETURN(epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(to_pass_, count_word(state, INT64_MAX - 1));
    HEADRACE_ASSIGN_OR_RETURN(number_, count_word(state, INT64_MAX - 1));
    next_ = 0;
    phase_ = Phase::kUndecided;
    return {};
  }

 private:
  Status decide(const std::stop_token& stop) {
    // All batches of the pass before are on their way into the cache.
    if (ended_filling_ != nullptr) HEADRACE_RETURN_IF_ERROR(ended_filling_->wait(stop));
    ended_filling_.reset();
    const std::optional<std::int64_t> batches = cache_->batches();
    if (!batches) {
      filling_ = cache_->fill();
      input_->begin_epoch(0);
      phase_ = Phase::kReading;
      return {};
    }
    if (to_pass_ > *batches) {
      return invalid_argument("the saved position is behind batch " + std::to_string(to_pass_) + " of " +
                              std::to_string(*batches) + " that are cached");
    }
    batches_ = *batches;
    next_ = std::exchange(to_pass_, 0);
    phase_ = Phase::kServing;
    return {};
  }

  Result<std::optional<RecordBatch>> read(const std::stop_token& stop) {
    HEADRACE_ASSIGN_OR_RETURN(std::optional<RecordBatch> batch, input_->pull(stop));
    if (!batch) {
      HEADRACE_RETURN_IF_ERROR(filling_->end(next_));
      ended_filling_ = std::move(filling_);
      phase_ = Phase::kEnded;
      return batch;
    }
    const bool is_delivered = to_pass_ == 0;
    if (!is_delivered) --to_pass_;
    return hand_out(std::move(*batch), {next_++, filling_, is_delivered, static_cast<std::int64_t>(epoch_)});
  }

  std::optional<RecordBatch> serve() {
    const KnownBatch known = cache_->at(next_);
    RecordBatch batch;
    batch.epoch = known.epoch;
    batch.rows = known.rows;
    return hand_out(std::move(batch), {next_++, nullptr, true, static_cast<std::int64_t>(epoch_)});
  }

  std::optional<RecordBatch> hand_out(RecordBatch batch, CachePlace place) {
    batch.number = place.is_delivered ? number_++ : number_;
    batch.cache = std::move(place);
    batch.state = {};
    save(&batch.state);
    return std::optional<RecordBatch>(std::move(batch));
  }

  const std::unique_ptr<BatchStage> input_;
  BatchCache* const cache_;
  std::uint64_t epoch_ = 0;
  std::int64_t number_ = 0;   ///< batches handed out, over all epochs
  std::int64_t next_ = 0;     ///< slot of the next batch
  std::int64_t to_pass_ = 0;  ///< batches from there on that the restored position is behind
  std::int64_t batches_ = 0;  ///< that are served
  Phase phase_ = Phase::kUndecided;
  std::shared_ptr<CacheFilling> filling_;        ///< while the input is read
  std::shared_ptr<CacheFilling> ended_filling_;  ///< whose last batches may not be kept yet
};

}  // namespace

std::unique_ptr<BatchStage> make_cache(const StageContext&, std::unique_ptr<BatchStage> input, BatchCache* cache) {
  return std::make_unique<CacheStage>(std::move(input), cache);
}

}  // namespace headrace

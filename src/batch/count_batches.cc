// take, skip and repeat where the elements are batches. Each adds its words to the state that comes with a batch.
#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class TakeBatchesStage final : public BatchStage {
 public:
  TakeBatchesStage(std::unique_ptr<BatchStage> input, std::int64_t count) : input_(std::move(input)), count_(count) {}

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    if (taken_ == count_) return std::optional<RecordBatch>();
    auto batch = input_->pull(stop);
    if (!batch.ok() || !batch->has_value() || is_for_cache_alone(**batch)) return batch;
    ++taken_;
    save_words(&(*batch)->state);
    return batch;
  }

  void begin_epoch(std::uint64_t epoch) override {
    taken_ = 0;
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    input_->save(state);
    save_words(state);
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(taken_, count_word(state, count_));
    return {};
  }

 private:
  void save_words(StateDelta* state) const { state->words.push_back(static_cast<std::uint64_t>(taken_)); }

  const std::unique_ptr<BatchStage> input_;
  const std::int64_t count_;
  std::int64_t taken_ = 0;
};

class SkipBatchesStage final : public BatchStage {
 public:
  SkipBatchesStage(BlockPool* blocks, std::unique_ptr<BatchStage> input, std::int64_t count)
      : blocks_(blocks), input_(std::move(input)), count_(count) {}

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    while (true) {
      if (stop.stop_requested()) return stopped_between_pulls();
      auto batch = input_->pull(stop);
      if (!batch.ok() || !batch->has_value() || is_for_cache_alone(**batch)) return batch;
      StateDelta& state = (*batch)->state;
      if (skipped_ < count_) {
        ++skipped_;
        held_slots_.insert(held_slots_.end(), state.slots.begin(), state.slots.end());
        if ((*batch)->cache && !is_cached(**batch)) {
          (*batch)->cache->is_delivered = false;  // the cache behind which this stands is to have it
          return batch;
        }
        blocks_->release((*batch)->runs);
        continue;
      }
      if (!held_slots_.empty()) {
        // What the batches before it changed comes with the first one that is handed out.
        held_slots_.insert(held_slots_.end(), state.slots.begin(), state.slots.end());
        state.slots = std::move(held_slots_);
        held_slots_.clear();
      }
      (*batch)->number = number_++;
      save_words(&state);
      return batch;
    }
  }

  void begin_epoch(std::uint64_t epoch) override {
    skipped_ = 0;
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    state->slots.insert(state->slots.end(), held_slots_.begin(), held_slots_.end());
    held_slots_.clear();
    input_->save(state);
    save_words(state);
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(skipped_, count_word(state, count_));
    HEADRACE_ASSIGN_OR_RETURN(number_, count_word(state, INT64_MAX - 1));
    return {};
  }

 private:
  void save_words(StateDelta* state) const {
    state->words.insert(state->words.end(),
                        {static_cast<std::uint64_t>(skipped_), static_cast<std::uint64_t>(number_)});
  }

  BlockPool* const blocks_;
  const std::unique_ptr<BatchStage> input_;
  const std::int64_t count_;
  std::int64_t skipped_ = 0;
  std::int64_t number_ = 0;  ///< batches handed out, over all epochs
  std::vector<SlotWrite> held_slots_;
};

class RepeatBatchesStage final : public BatchStage {
 public:
  RepeatBatchesStage(std::unique_ptr<BatchStage> input, std::int64_t count) : input_(std::move(input)), count_(count) {}

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    if (count_ == 0) return std::optional<RecordBatch>();
    while (true) {
      if (stop.stop_requested()) return stopped_between_pulls();
      auto batch = input_->pull(stop);
      if (!batch.ok()) return batch;
      if (batch->has_value() && is_for_cache_alone(**batch)) return batch;
      if (batch->has_value()) {
        empty_ = false;
        save_words(&(*batch)->state);
        return batch;
      }
      // As with records: an empty epoch ends a counted repeat.
      if (empty_ && count_ < 0) {
        return invalid_argument("no batch in an epoch: repeat() without a count would never hand out one");
      }
      if (empty_ || epoch_ + 1 == static_cast<std::uint64_t>(count_)) return batch;
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

  void save(StateDelta* state) override {
    input_->save(state);
    save_words(state);
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
  void save_words(StateDelta* state) const {
    state->words.insert(state->words.end(), {first_epoch_, epoch_, empty_ ? 1U : 0U});
  }

  const std::unique_ptr<BatchStage> input_;
  const std::int64_t count_;
  std::uint64_t first_epoch_ = 0;
  std::uint64_t epoch_ = 0;  ///< of the input, less first_epoch_
  bool empty_ = true;        ///< no batch of this epoch came yet
};

}  // namespace

std::unique_ptr<BatchStage> make_take_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                              std::int64_t count) {
  if (count < 0) return input;
  return std::make_unique<TakeBatchesStage>(std::move(input), count);
}

std::unique_ptr<BatchStage> make_skip_batches(const StageContext& context, std::unique_ptr<BatchStage> input,
                                              std::int64_t count) {
  // skip(-1) leaves nothing, without reading anything.
  if (count < 0) return make_take_batches(context, std::move(input), 0);
  return std::make_unique<SkipBatchesStage>(context.blocks, std::move(input), count);
}

std::unique_ptr<BatchStage> make_repeat_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                                std::int64_t count) {
  return std::make_unique<RepeatBatchesStage>(std::move(input), count);
}

}  // namespace headrace

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class BatchCutter final : public BatchStage {
 public:
  BatchCutter(BlockPool* blocks, std::unique_ptr<RecordStage> input, std::int64_t size, bool drop_remainder,
              FindMisfits find_misfits)
      : blocks_(blocks),
        input_(std::move(input)),
        size_(size),
        drop_remainder_(drop_remainder),
        find_misfits_(std::move(find_misfits)) {}
  ~BatchCutter() override { blocks_->release(pending_.runs); }

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    do {
      HEADRACE_RETURN_IF_ERROR(fill(stop));
      if (pending_.rows < size_ && drop_remainder_) withhold();
      if (pending_.rows == 0) {
        if (!failure_.ok()) return failure_;
        return std::optional<RecordBatch>();
      }
      if (find_misfits_ == nullptr) return hand_out();
      misfits_ = find_misfits_(pending_, stop);
      if (misfits_.failure.code() == StatusCode::kCancelled) return misfits_.failure;
      leave_out_misfits();
    } while (!misfits_.rows.empty());
    return hand_out();
  }

  void begin_epoch(std::uint64_t epoch) override {
    drop_pending();
    first_epoch_ = epoch;
    failure_ = {};
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.insert(state->words.end(), {first_epoch_, static_cast<std::uint64_t>(number_)});
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(number_, count_word(state, INT64_MAX - 1));
    return {};
  }

 private:
  /// Fails only for a stop request.
  Status fill(const std::stop_token& stop) {
    while (failure_.ok() && pending_.rows < size_) {
      if (stop.stop_requested()) return stopped_between_pulls();
      const auto got = input_->pull(static_cast<std::size_t>(size_ - pending_.rows), &pending_.runs, stop);
      if (!got.ok() && got.status().code() == StatusCode::kCancelled) return got.status();
      if (!got.ok()) failure_ = got.status();
      if (!got.ok() || *got == 0) break;
      note_epoch(static_cast<std::int64_t>(first_epoch_ + input_->epoch_offset()));
      pending_.rows += static_cast<std::int64_t>(*got);
    }
    return {};
  }

  void leave_out_misfits() {
    std::vector<std::int64_t> rows = misfits_.rows;
    if (!misfits_.failure.ok()) {
      failure_ = misfits_.failure;
      pending_.cut_short = true;
      for (std::int64_t row = rows.back() + 1; row < pending_.rows; ++row) rows.push_back(row);
    }
    std::vector<RecordRun> left_out;
    take_rows_out(rows, &pending_, &left_out);
    blocks_->release(left_out);
  }

  // All records of one pull are of one epoch.
  void note_epoch(std::int64_t epoch) {
    if (pending_.rows == 0) {
      pending_.epoch = epoch;
    } else if (epoch != (pending_.later_epochs.empty() ? pending_.epoch : pending_.later_epochs.back().epoch)) {
      pending_.later_epochs.push_back({pending_.rows, epoch});
    }
  }

  std::optional<RecordBatch> hand_out() {
    pending_.number = number_++;
    pending_.full_rows = size_;
    save(&pending_.state);
    std::optional<RecordBatch> batch(std::move(pending_));
    pending_ = {};
    // Most batches of a stream have about as many runs and words as the one before.
    pending_.runs.reserve(batch->runs.size());
    pending_.state.words.reserve(batch->state.words.size());
    pending_.state.slots.reserve(batch->state.slots.size());
    return batch;
  }

  /// Rows that do not fill a batch are dropped; a failure behind them tells how many.
  void withhold() {
    failure_ = with_withheld(failure_, pending_.rows);
    drop_pending();
  }

  void drop_pending() {
    blocks_->release(pending_.runs);
    pending_.runs.clear();
    pending_.later_epochs.clear();
    pending_.rows = 0;
    pending_.cut_short = false;
  }

  BlockPool* const blocks_;
  const std::unique_ptr<RecordStage> input_;
  const std::int64_t size_;
  const bool drop_remainder_;
  const FindMisfits find_misfits_;
  std::uint64_t first_epoch_ = 0;
  std::int64_t number_ = 0;
  RecordBatch pending_;  ///< rows of the batch to come; kept when a stop request comes in between
  Misfits misfits_;      ///< of the last look at pending_
  Status failure_;
};

}  // namespace

std::unique_ptr<BatchStage> make_batch(const StageContext& context, std::unique_ptr<RecordStage> input,
                                       std::int64_t size, bool drop_remainder, FindMisfits find_misfits) {
  return std::make_unique<BatchCutter>(context.blocks, std::move(input), size, drop_remainder, std::move(find_misfits));
}

}  // namespace headrace

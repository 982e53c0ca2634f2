// unbatch: the rows of batches are records again.
//
// The state is that of the input in front of the batch whose rows are being handed out, and how many of them are: a restored
// stage asks for that batch again. So a failure behind the rows of a batch that was cut short keeps its place, too.
#include <algorithm>
#include <string>
#include <utility>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class UnbatchStage final : public RecordStage {
 public:
  UnbatchStage(BlockPool* blocks, std::unique_ptr<BatchStage> input) : blocks_(blocks), input_(std::move(input)) {}
  ~UnbatchStage() override { release_rest(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    if (given_ == held_.rows) leave_batch();
    if (given_ == held_.rows) {
      HEADRACE_ASSIGN_OR_RETURN(std::optional<RecordBatch> next, input_->pull(stop));
      if (!next) return 0;
      held_ = std::move(*next);
      given_ = 0;
      run_ = taken_of_run_ = 0;
      if (to_pass_ > 0) HEADRACE_RETURN_IF_ERROR(pass_over());
      if (given_ == held_.rows) return pull(max_records, runs, stop);
    }
    const std::int64_t most = std::min<std::int64_t>(
        static_cast<std::int64_t>(std::min<std::size_t>(max_records, INT64_MAX)), rows_of_epoch());
    hand_out(most, runs);
    return static_cast<std::size_t>(most);
  }

  void begin_epoch(std::uint64_t epoch) override {
    release_rest();
    // The input has told these changes, and will not tell them again.
    slots_.insert(slots_.end(), held_.state.slots.begin(), held_.state.slots.end());
    held_ = {};
    given_ = to_pass_ = 0;
    first_epoch_ = epoch;
    offset_ = 0;
    input_->begin_epoch(epoch);
    note_input();
  }

  std::uint64_t epoch_offset() const override { return offset_; }

  void save(StateDelta* state) override {
    if (given_ == held_.rows && to_pass_ == 0) leave_batch();
    state->words.insert(state->words.end(), words_.begin(), words_.end());
    state->words.insert(state->words.end(), {first_epoch_, static_cast<std::uint64_t>(given_ + to_pass_)});
    state->slots.insert(state->slots.end(), slots_.begin(), slots_.end());
    slots_.clear();
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(to_pass_, count_word(state, INT64_MAX));
    note_input();
    return {};
  }

 private:
  // Where the input stands, in front of the next batch.
  void note_input() {
    StateDelta state;
    input_->save(&state);
    words_ = std::move(state.words);
    slots_.insert(slots_.end(), state.slots.begin(), state.slots.end());
  }

  // What was handed out of the batch is behind the state from now on, unless a failure of the input is, too.
  void leave_batch() {
    if (held_.rows == 0 || held_.cut_short) return;
    words_ = std::move(held_.state.words);
    slots_.insert(slots_.end(), held_.state.slots.begin(), held_.state.slots.end());
    held_ = {};
    given_ = 0;
  }

  // Rows that were handed out before the state was saved.
  Status pass_over() {
    if (to_pass_ > held_.rows) {
      return invalid_argument("the saved position is behind row " + std::to_string(to_pass_) + " of a batch of " +
                              std::to_string(held_.rows));
    }
    std::vector<RecordRun> passed;
    hand_out(std::exchange(to_pass_, 0), &passed);
    blocks_->release(passed);
    return {};
  }

  // Rows behind those given that are of one epoch.
  std::int64_t rows_of_epoch() const {
    for (const EpochStart& start : held_.later_epochs) {
      if (start.row > given_) return start.row - given_;
    }
    return held_.rows - given_;
  }

  std::uint64_t offset_of(std::int64_t row) const {
    std::int64_t epoch = held_.epoch;
    for (const EpochStart& start : held_.later_epochs) {
      if (start.row <= row) epoch = start.epoch;
    }
    return static_cast<std::uint64_t>(epoch) - first_epoch_;
  }

  void hand_out(std::int64_t rows, std::vector<RecordRun>* runs) {
    offset_ = offset_of(given_);
    given_ += rows;
    while (rows > 0) {
      const RecordRun& run = held_.runs[run_];
      const auto taken = static_cast<std::uint32_t>(std::min<std::int64_t>(rows, run.count - taken_of_run_));
      runs->push_back({run.block, run.first + taken_of_run_, taken});
      rows -= taken;
      taken_of_run_ += taken;
      if (taken_of_run_ < run.count) continue;
      ++run_;
      taken_of_run_ = 0;
    }
  }

  void release_rest() {
    std::vector<RecordRun> rest;
    if (given_ < held_.rows) hand_out(held_.rows - given_, &rest);
    blocks_->release(rest);
  }

  BlockPool* const blocks_;
  const std::unique_ptr<BatchStage> input_;
  std::uint64_t first_epoch_ = 0;
  std::uint64_t offset_ = 0;  ///< epoch of what was handed out last, less first_epoch_
  RecordBatch held_;
  std::int64_t given_ = 0;  ///< rows of it that were handed out
  std::size_t run_ = 0;     ///< where the next one is
  std::uint32_t taken_of_run_ = 0;
  std::int64_t to_pass_ = 0;          ///< rows of the next batch that the restored position is behind
  std::vector<std::uint64_t> words_;  ///< of the input in front of held_
  std::vector<SlotWrite> slots_;      ///< changes up to there that save() has not told
};

}  // namespace

std::unique_ptr<RecordStage> make_unbatch(const StageContext& context, std::unique_ptr<BatchStage> input) {
  return std::make_unique<UnbatchStage>(context.blocks, std::move(input));
}

}  // namespace headrace

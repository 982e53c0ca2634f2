// The shuffle stage: a flat array of records, from which a random one is handed out and replaced.
//
//   slots_:  [0, current_)      records of the epoch that is handed out
//            [current_, next_)  a gap; only where the next epoch has fewer records
//            [next_, size)      records of the epoch behind it, the last one first
//
// Record j of the first d = min(buffer, records) of an epoch stands in slot d - 1 - j when the epoch starts, whether it came
// through fill() or into the slots that the epoch before it left: the order depends on key, epoch and input alone.
//
//   begin_epoch() ──▶ fill ──▶ replace (record of this epoch in, random one out) ──▶ replace (record of the next epoch in)
//                      ▲                                                                │ this epoch is empty
//                      └──────────────── more of the next epoch, and room ──────────────┘
//   Where the input has ended for good or failed, drain (nothing in, random one out) goes on to the last record.
#include <algorithm>

#include "base/random.h"
#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

/// Records asked of the input with one call of fill().
constexpr std::size_t kFilledAtOnce = 4096;
/// SlotWrite has 32 bits for a slot.
constexpr std::int64_t kMaxBuffer = std::int64_t{1} << 31;

class ShuffleStage final : public RecordStage {
 public:
  ShuffleStage(const StageContext& context, std::unique_ptr<RecordStage> input, const ShuffleStageOptions& options)
      : op_id_(context.op_id),
        blocks_(context.blocks),
        input_(std::move(input)),
        options_(options),
        buffer_size_(static_cast<std::size_t>(std::min(options.buffer_size, kMaxBuffer))) {}
  ~ShuffleStage() override { release_slots(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    if (current_ == 0 || filling_) {
      HEADRACE_RETURN_IF_ERROR(start_epoch(stop));
      if (current_ == 0 && !failure_.ok()) return failure_;
      if (current_ == 0) return std::size_t{0};
    }
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, pull_input(max_records, stop));
    const std::size_t count = got > 0 ? got : std::min(max_records, current_);
    if (got == 0) {
      drain(count, runs);
    } else if (input_epoch_ == epoch_) {
      replace(runs);
    } else {
      replace_with_next(runs);
    }
    if (changed_.size() > slots_.size() + kFilledAtOnce) change_all();
    return count;
  }

  void begin_epoch(std::uint64_t epoch) override {
    release_slots();
    slots_.clear();
    change_all();
    current_ = next_ = 0;
    first_epoch_ = epoch;
    epoch_ = input_epoch_ = 0;
    input_records_ = 0;
    failure_ = {};
    start_order();
    filling_ = true;
    input_state_ = options_.epochs == 0 ? Input::kDone : Input::kReading;
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return epoch_; }

  void save(StateDelta* state) override {
    input_->save(state);
    save_slots(state);
    state->words.insert(state->words.end(), {first_epoch_, epoch_, input_epoch_, position_, input_records_, current_,
                                             next_, slots_.size()});
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(input_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t position, state->word());
    HEADRACE_ASSIGN_OR_RETURN(input_records_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t current, count_word(state, kMaxBuffer));
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t next, count_word(state, kMaxBuffer));
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t size, count_word(state, kMaxBuffer));
    start_order();
    position_ = position;
    // Before the first record of an epoch nothing is buffered. A state behind the last one before a failure of the input
    // has nothing left either: filling meets that failure again.
    filling_ = position_ == 0 || (current == 0 && input_epoch_ == epoch_);
    const std::span<const RecordId> ids = state->slots(op_id_);
    const bool epochs_fit = (input_epoch_ == epoch_ || input_epoch_ == epoch_ + 1) &&
                            (options_.epochs < 1 || input_epoch_ < static_cast<std::uint64_t>(options_.epochs));
    if (current > next || next > size || static_cast<std::size_t>(size) > buffer_size_ ||
        ids.size() != static_cast<std::size_t>(size) || !epochs_fit ||
        (filling_ && (size > 0 || input_epoch_ != epoch_))) {
      return invalid_argument("the saved position is not one of this shuffle");
    }
    return restore_slots(ids, static_cast<std::size_t>(current), static_cast<std::size_t>(next), fetcher);
  }

 private:
  enum class Input : std::uint8_t {
    kReading,
    kEpochEnded,  ///< it said so, and the next one may not begin yet
    kDone,        ///< no epoch is left
    kFailed,
  };

  void start_order() {
    position_ = 0;
    key_ = random_key(options_.seed, options_.reshuffle_each_iteration ? first_epoch_ + epoch_ : 0);
  }

  /// Makes the next epoch the current one and fills up the buffer. Ok with current_ == 0 is the end, or failure_.
  Status start_epoch(const std::stop_token& stop) {
    if (!filling_) {
      if (input_epoch_ == epoch_) return {};
      if (next_ > 0) change_all();
      slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(next_));
      current_ = next_ = slots_.size();
      epoch_ = input_epoch_;
      start_order();
      filling_ = current_ < buffer_size_ && input_state_ == Input::kReading;
      // In order of arrival while it is filled.
      if (filling_) std::reverse(slots_.begin(), slots_.end());
    }
    if (filling_) HEADRACE_RETURN_IF_ERROR(fill(stop));
    if (input_state_ == Input::kEpochEnded) begin_input_epoch();
    return {};
  }

  Status fill(const std::stop_token& stop) {
    while (slots_.size() < buffer_size_ && input_state_ == Input::kReading) {
      if (stop.stop_requested()) return stopped_between_pulls();
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t got,
                                ask_input(std::min(buffer_size_ - slots_.size(), kFilledAtOnce), stop));
      if (got == 0) continue;
      for (const RecordRun& run : incoming_) {
        for (std::uint32_t i = 0; i < run.count; ++i) slots_.push_back({run.block, run.first + i, 1});
      }
      current_ = next_ = slots_.size();
    }
    std::reverse(slots_.begin(), slots_.end());
    change_all();
    filling_ = false;
    return {};
  }

  /// Gets at most `max_records` into incoming_, of this epoch or of the next one; 0 where the input gives none any more.
  Result<std::size_t> pull_input(std::size_t max_records, const std::stop_token& stop) {
    while (input_state_ == Input::kReading) {
      // A record of the next epoch needs a slot that this one leaves.
      const std::size_t ask = input_epoch_ == epoch_ ? max_records : std::min(max_records, current_);
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, ask_input(ask, stop));
      if (got > 0) return got;
      if (input_state_ == Input::kEpochEnded && input_epoch_ == epoch_) begin_input_epoch();
    }
    return std::size_t{0};
  }

  /// One pull of the input; its end and its failure become input_state_. Only a stop request is a failure here.
  Result<std::size_t> ask_input(std::size_t max_records, const std::stop_token& stop) {
    incoming_.clear();
    auto got = input_->pull(max_records, &incoming_, stop);
    if (got.ok()) {
      if (*got == 0) input_state_ = Input::kEpochEnded;
      input_records_ += *got;
      return got;
    }
    if (got.status().code() == StatusCode::kCancelled) return got;
    failure_ = got.status();
    input_state_ = Input::kFailed;
    return std::size_t{0};
  }

  void begin_input_epoch() {
    if (input_records_ == 0 && options_.epochs < 0) {
      failure_ = nothing_to_repeat();
      input_state_ = Input::kFailed;
      return;
    }
    // An empty epoch ends a counted repeat: the epochs behind it would be empty, too.
    if (input_records_ == 0 || input_epoch_ + 1 == static_cast<std::uint64_t>(options_.epochs)) {
      input_state_ = Input::kDone;
      return;
    }
    ++input_epoch_;
    input_records_ = 0;
    input_state_ = Input::kReading;
    input_->begin_epoch(first_epoch_ + input_epoch_);
  }

  std::size_t choose() { return random_below(key_, position_++, current_); }

  void replace(std::vector<RecordRun>* runs) {
    for (const RecordRun& run : incoming_) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        const std::size_t chosen = choose();
        runs->push_back(slots_[chosen]);
        slots_[chosen] = {run.block, run.first + i, 1};
        change(chosen);
      }
    }
  }

  void replace_with_next(std::vector<RecordRun>* runs) {
    for (const RecordRun& run : incoming_) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        take_out(runs);
        slots_[current_] = {run.block, run.first + i, 1};
        change(current_);
      }
    }
    next_ = current_;
  }

  void drain(std::size_t count, std::vector<RecordRun>* runs) {
    const bool none_behind = next_ == slots_.size();
    for (std::size_t i = 0; i < count; ++i) take_out(runs);
    if (!none_behind) return;
    slots_.resize(current_);
    next_ = current_;
  }

  /// Hands out a random record and closes its slot with the last one of the epoch.
  void take_out(std::vector<RecordRun>* runs) {
    const std::size_t chosen = choose();
    runs->push_back(slots_[chosen]);
    slots_[chosen] = slots_[--current_];
    change(chosen);
  }

  void change(std::size_t slot) { changed_.push_back(static_cast<std::uint32_t>(slot)); }

  void change_all() {
    all_changed_ = true;
    changed_.clear();
  }

  bool holds(std::size_t slot) const { return slot < current_ || (slot >= next_ && slot < slots_.size()); }

  void save_slots(StateDelta* state) {
    if (slots_.size() < saved_size_) {
      state->slots.push_back({op_id_, static_cast<std::uint32_t>(slots_.size()), {.shard = kEndOfSlots}});
    }
    const std::size_t count = all_changed_ ? slots_.size() : changed_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t slot = all_changed_ ? i : changed_[i];
      if (holds(slot)) state->slots.push_back({op_id_, static_cast<std::uint32_t>(slot), record_id(slots_[slot])});
    }
    changed_.clear();
    all_changed_ = false;
    saved_size_ = slots_.size();
  }

  Status restore_slots(std::span<const RecordId> ids, std::size_t current, std::size_t next, RecordFetcher* fetcher) {
    std::vector<RecordId> held(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(current));
    held.insert(held.end(), ids.begin() + static_cast<std::ptrdiff_t>(next), ids.end());
    std::vector<RecordRun> records;
    Status fetched = fetcher->fetch(held, &records);
    if (!fetched.ok()) {
      blocks_->release(records);
      return fetched;
    }
    records.insert(records.begin() + static_cast<std::ptrdiff_t>(current), next - current, RecordRun{});
    slots_ = std::move(records);
    current_ = current;
    next_ = next;
    saved_size_ = slots_.size();
    return {};
  }

  void release_slots() {
    const std::span<const RecordRun> slots(slots_);
    blocks_->release(slots.first(current_));
    blocks_->release(slots.subspan(next_));
  }

  // constant after construction
  const std::uint32_t op_id_;
  BlockPool* const blocks_;
  const std::unique_ptr<RecordStage> input_;
  const ShuffleStageOptions options_;
  const std::size_t buffer_size_;

  // the array
  std::vector<RecordRun> slots_;
  std::size_t current_ = 0;
  std::size_t next_ = 0;
  bool filling_ = false;  ///< slots_ is in order of arrival and may grow

  // where the stream stands; epochs count from first_epoch_
  std::uint64_t first_epoch_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t position_ = 0;  ///< records of epoch_ handed out
  std::uint64_t key_ = 0;
  std::uint64_t input_epoch_ = 0;    ///< epoch_ or the one behind it
  std::uint64_t input_records_ = 0;  ///< of input_epoch_ so far
  Input input_state_ = Input::kReading;
  Status failure_;

  // what save() has not told yet; a slot may be in it more than once
  std::vector<std::uint32_t> changed_;
  bool all_changed_ = false;
  std::size_t saved_size_ = 0;

  std::vector<RecordRun> incoming_;
};

}  // namespace

std::unique_ptr<RecordStage> make_shuffle(const StageContext& context, std::unique_ptr<RecordStage> input,
                                          const ShuffleStageOptions& options) {
  return std::make_unique<ShuffleStage>(context, std::move(input), options);
}

}  // namespace headrace

#include <algorithm>

#include "batch/stage_words.h"
#include "batch/stages.h"
#include "example/predicate.h"
#include "record/skip_log.h"

namespace headrace {
namespace {

/// Records asked of the input with one call: a stop request is looked at in between.
constexpr std::size_t kAskedAtOnce = 4096;

class FilterStage final : public RecordStage {
 public:
  FilterStage(const StageContext& context, std::unique_ptr<RecordStage> input, const Filter& filter)
      : op_id_(context.op_id),
        blocks_(context.blocks),
        locate_(context.locate),
        skip_(context.skip),
        input_(std::move(input)),
        predicate_(filter) {}
  ~FilterStage() override { blocks_->release(asked_); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    std::size_t kept = 0;
    while (kept == 0 && failure_.ok()) {
      if (stop.stop_requested()) return stopped_between_pulls();
      if (asked_.empty()) {
        auto got = input_->pull(std::min(max_records, kAskedAtOnce), &asked_, stop);
        if (!got.ok() || *got == 0) return got;
      }
      kept = split(max_records, runs);
    }
    if (kept > 0) return kept;
    return failure_;
  }

  void begin_epoch(std::uint64_t epoch) override {
    blocks_->release(asked_);
    asked_.clear();
    failure_ = {};
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return input_->epoch_offset(); }

  // Records that the input has handed out and nobody has judged are left behind a failure: the one that failed comes first.
  void save(StateDelta* state) override {
    input_->save(state);
    std::vector<RecordId> left;
    for (const RecordRun& run : asked_) {
      for (std::uint32_t i = 0; i < run.count; ++i) left.push_back(record_id(run, i));
    }
    state->words.push_back(left.size());
    if (left.size() == saved_size_) return;
    if (left.size() < saved_size_) {
      state->slots.push_back({op_id_, static_cast<std::uint32_t>(left.size()), {.shard = kEndOfSlots}});
    }
    for (std::uint32_t slot = 0; slot < left.size(); ++slot) state->slots.push_back({op_id_, slot, left[slot]});
    saved_size_ = left.size();
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t size, count_word(state, kAskedAtOnce));
    const std::span<const RecordId> left = state->slots(op_id_);
    if (std::ssize(left) != size) return invalid_argument("the saved position is not one of this filter");
    saved_size_ = left.size();
    return left.empty() ? Status() : fetcher->fetch(left, &asked_);
  }

 private:
  /// Appends what is kept of asked_ to `runs`, at most `most`, up to a failure; releases what is not kept and returns how many
  /// were. What is not judged stays in asked_.
  std::size_t split(std::size_t most, std::vector<RecordRun>* runs) {
    std::size_t kept = 0;
    dropped_.clear();
    std::size_t next = 0;
    for (; next < asked_.size() && failure_.ok() && kept < most; ++next) {
      RecordRun& run = asked_[next];
      const std::uint32_t judged = judge(run, most, &kept, runs);
      run.first += judged;
      run.count -= judged;
      if (run.count > 0) break;
    }
    asked_.erase(asked_.begin(), asked_.begin() + static_cast<std::ptrdiff_t>(next));
    blocks_->release(dropped_);
    return kept;
  }

  /// The records at the front of `run`: how many were judged.
  std::uint32_t judge(const RecordRun& run, std::size_t most, std::size_t* kept, std::vector<RecordRun>* runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      if (*kept == most) return i;
      const bool keeps = evaluate(run, i);
      if (!failure_.ok()) return i;
      const std::uint32_t index = run.first + i;
      std::vector<RecordRun>* to = keeps ? runs : &dropped_;
      const std::size_t own = keeps ? *kept : dropped_.size();  // never the last run of the caller
      if (own > 0 && to->back().block == run.block && to->back().first + to->back().count == index) {
        ++to->back().count;
      } else {
        to->push_back({run.block, index, 1});
      }
      *kept += keeps ? 1 : 0;
    }
    return run.count;
  }

  bool evaluate(const RecordRun& run, std::uint32_t i) {
    const Result<bool> keeps = predicate_.keeps(run.block->payload(run.first + i));
    if (keeps.ok()) return *keeps;
    failure_ = keeps.status().with(locate_(record_id(run, i)));
    if (skip_ != nullptr && failure_.code() == StatusCode::kSchemaMismatch)
      failure_ = skip_(whole_record(failure_, run, i));
    return false;
  }

  const std::uint32_t op_id_;
  BlockPool* const blocks_;
  const std::function<Where(const RecordId&)> locate_;
  const std::function<Status(const SkippedRegion&)> skip_;
  const std::unique_ptr<RecordStage> input_;
  Predicate predicate_;
  Status failure_;
  std::vector<RecordRun> asked_;  // not yet judged
  std::vector<RecordRun> dropped_;
  std::size_t saved_size_ = 0;  // of asked_, in records, when it was saved last
};

}  // namespace

std::unique_ptr<RecordStage> make_filter(const StageContext& context, std::unique_ptr<RecordStage> input,
                                         const Filter& filter) {
  return std::make_unique<FilterStage>(context, std::move(input), filter);
}

}  // namespace headrace

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
      : blocks_(context.blocks),
        locate_(context.locate),
        skip_(context.skip),
        input_(std::move(input)),
        predicate_(filter) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    std::size_t kept = 0;
    while (kept == 0 && failure_.ok()) {
      if (stop.stop_requested()) return stopped_between_pulls();
      asked_.clear();
      auto got = input_->pull(std::min(max_records, kAskedAtOnce), &asked_, stop);
      if (!got.ok() || *got == 0) return got;
      kept = split(runs);
    }
    if (kept > 0) return kept;
    return failure_;
  }

  void begin_epoch(std::uint64_t epoch) override {
    failure_ = {};
    input_->begin_epoch(epoch);
  }

  std::uint64_t epoch_offset() const override { return input_->epoch_offset(); }

  void save(StateDelta* state) override { input_->save(state); }

  Status restore(StateReader* state, RecordFetcher* fetcher) override { return input_->restore(state, fetcher); }

 private:
  /// Appends what is kept of asked_ to `runs`, up to a failure, releases the rest, returns how many were kept.
  std::size_t split(std::vector<RecordRun>* runs) {
    std::size_t kept = 0;
    dropped_.clear();
    for (const RecordRun& run : asked_) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        const std::uint32_t index = run.first + i;
        const bool keeps = failure_.ok() && evaluate(run, i);
        std::vector<RecordRun>* to = keeps ? runs : &dropped_;
        const std::size_t own = keeps ? kept : dropped_.size();  // never the last run of the caller
        if (own > 0 && to->back().block == run.block && to->back().first + to->back().count == index) {
          ++to->back().count;
        } else {
          to->push_back({run.block, index, 1});
        }
        kept += keeps ? 1 : 0;
      }
    }
    blocks_->release(dropped_);
    return kept;
  }

  bool evaluate(const RecordRun& run, std::uint32_t i) {
    const Result<bool> keeps = predicate_.keeps(run.block->payload(run.first + i));
    if (keeps.ok()) return *keeps;
    failure_ = keeps.status().with(locate_(record_id(run, i)));
    if (skip_ != nullptr && failure_.code() == StatusCode::kSchemaMismatch)
      failure_ = skip_(whole_record(failure_, run, i));
    return false;
  }

  BlockPool* const blocks_;
  const std::function<Where(const RecordId&)> locate_;
  const std::function<Status(const SkippedRegion&)> skip_;
  const std::unique_ptr<RecordStage> input_;
  Predicate predicate_;
  Status failure_;
  std::vector<RecordRun> asked_;
  std::vector<RecordRun> dropped_;
};

}  // namespace

std::unique_ptr<RecordStage> make_filter(const StageContext& context, std::unique_ptr<RecordStage> input,
                                         const Filter& filter) {
  return std::make_unique<FilterStage>(context, std::move(input), filter);
}

}  // namespace headrace

// The stage that takes each record from one of several inputs, as Choices say.
//
//   plan (which input each of the next records comes from) ──▶ gather (from each input as many) ──▶ hand_out (in order)
//
// An input that has ended is passed over, or ends the stream. So nothing is ever gathered that is not handed out, but where
// the stream ends in the middle of a plan, by a failure or by an empty input: the position is then that of the choice that
// met it, and meets it again when it is restored.
#include <algorithm>

#include "batch/stage_words.h"
#include "batch/stages.h"

namespace headrace {
namespace {

class ChooseStage final : public RecordStage {
 public:
  ChooseStage(const StageContext& context, std::vector<std::unique_ptr<RecordStage>> inputs, ChoiceOptions options,
              bool stop_on_empty)
      : blocks_(context.blocks), choices_(std::move(options)), stop_on_empty_(stop_on_empty) {
    for (auto& input : inputs) inputs_.push_back({.stage = std::move(input)});
  }
  ~ChooseStage() override { release_gathered(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    while (true) {
      if (stop.stop_requested()) return stopped_between_pulls();
      if (!failure_.ok()) return failure_;
      if (ended_ || (plan_.empty() && !make_plan(max_records))) return std::size_t{0};
      HEADRACE_RETURN_IF_ERROR(gather(stop));
      const std::size_t count = hand_out(max_records, runs);
      if (count > 0) return count;
    }
  }

  void begin_epoch(std::uint64_t epoch) override {
    release_gathered();
    epoch_ = epoch;
    position_ = 0;
    ended_ = false;
    failure_ = {};
    choices_.begin_epoch(epoch);
    for (Input& input : inputs_) {
      input.ended = false;
      input.failure = {};
      input.stage->begin_epoch(epoch);
    }
  }

  void save(StateDelta* state) override {
    for (const Input& input : inputs_) input.stage->save(state);
    state->words.insert(state->words.end(), {epoch_, position_});
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    for (const Input& input : inputs_) HEADRACE_RETURN_IF_ERROR(input.stage->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(position_, state->word());
    choices_.begin_epoch(epoch_);
    return {};
  }

 private:
  struct Input {
    std::unique_ptr<RecordStage> stage;
    bool ended = false;
    Status failure = {};
    std::size_t planned = 0;               // records of plan_ that were not gathered yet
    std::vector<RecordRun> gathered = {};  // not handed out yet; the first `taken` records of the first one are
    std::size_t first = 0;                 // of gathered
    std::uint32_t taken = 0;
  };
  struct Choice {
    std::uint32_t input;
    std::uint64_t position;
  };

  /// False: no input is left.
  bool make_plan(std::size_t records) {
    bool any = false;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) any |= !inputs_[i].ended && choices_.has(i);
    if (!any) return false;
    for (std::uint64_t p = position_; plan_.size() < records; ++p) {
      const std::uint32_t i = choices_.at(p);
      if (inputs_[i].ended && !stop_on_empty_) continue;
      plan_.push_back({i, p});
      ++inputs_[i].planned;
    }
    return true;
  }

  /// Fails only for a stop request; what was gathered stays until the next call.
  Status gather(const std::stop_token& stop) {
    for (Input& input : inputs_) {
      while (input.planned > 0 && !input.ended && input.failure.ok()) {
        const auto got = input.stage->pull(input.planned, &input.gathered, stop);
        if (!got.ok() && got.status().code() == StatusCode::kCancelled) return got.status();
        if (!got.ok()) input.failure = got.status();
        input.ended = got.ok() && *got == 0;
        if (got.ok()) input.planned -= *got;
      }
      input.planned = 0;
    }
    return {};
  }

  /// Gives back how many records it appended: 0 where all planned inputs have ended, or the stream has.
  std::size_t hand_out(std::size_t max_records, std::vector<RecordRun>* runs) {
    std::size_t count = 0;
    std::size_t used = 0;
    for (; used < plan_.size() && count < max_records; ++used) {
      Input& input = inputs_[plan_[used].input];
      position_ = plan_[used].position;
      if (input.first < input.gathered.size()) {
        take(&input, runs);
        ++count;
      } else if (!input.failure.ok() || stop_on_empty_) {
        failure_ = input.failure;
        ended_ = failure_.ok();
        release_gathered();
        return count;
      }
      ++position_;
    }
    plan_.erase(plan_.begin(), plan_.begin() + static_cast<std::ptrdiff_t>(used));
    return count;
  }

  static void take(Input* input, std::vector<RecordRun>* runs) {
    const RecordRun& from = input->gathered[input->first];
    runs->push_back({from.block, from.first + input->taken, 1});
    if (++input->taken < from.count) return;
    input->taken = 0;
    if (++input->first < input->gathered.size()) return;
    input->first = 0;
    input->gathered.clear();
  }

  void release_gathered() {
    plan_.clear();
    for (Input& input : inputs_) {
      if (input.first < input.gathered.size()) {
        input.gathered[input.first].first += input.taken;
        input.gathered[input.first].count -= input.taken;
        blocks_->release(std::span<const RecordRun>(input.gathered).subspan(input.first));
      }
      input.gathered.clear();
      input.first = input.planned = 0;
      input.taken = 0;
    }
  }

  BlockPool* const blocks_;
  Choices choices_;
  const bool stop_on_empty_;
  std::vector<Input> inputs_;
  std::uint64_t epoch_ = 0;
  std::uint64_t position_ = 0;  // of the next choice
  bool ended_ = false;          // by an input that was empty
  Status failure_;              // or by one that failed
  std::vector<Choice> plan_;    // what is left of it
};

}  // namespace

std::unique_ptr<RecordStage> make_choose(const StageContext& context, std::vector<std::unique_ptr<RecordStage>> inputs,
                                         ChoiceOptions options, bool stop_on_empty) {
  return std::make_unique<ChooseStage>(context, std::move(inputs), std::move(options), stop_on_empty);
}

}  // namespace headrace

// Batches of records of similar length: each record goes to the bucket of its length, a full bucket is a batch.
//
// The input is never asked for more records than the fullest bucket lacks. So a batch is full only behind the last record of a
// pull, and what is buffered behind a batch is what the buckets hold: slots of the state, bucket by bucket in order of arrival.
#include <algorithm>
#include <string>
#include <utility>

#include "batch/stage_words.h"
#include "batch/stages.h"
#include "example/feature_length.h"

namespace headrace {
namespace {

class BucketCutter final : public BatchStage {
 public:
  BucketCutter(const StageContext& context, std::unique_ptr<RecordStage> input, const BucketOptions& options)
      : op_id_(context.op_id),
        blocks_(context.blocks),
        locate_(context.locate),
        input_(std::move(input)),
        options_(options),
        length_(options.key, options.sequence),
        buckets_(options.sizes.size()) {}
  ~BucketCutter() override { release_all(); }

  Result<std::optional<RecordBatch>> pull(const std::stop_token& stop) override {
    while (!ended_) {
      if (stop.stop_requested()) return stopped_between_pulls();
      asked_.clear();
      const auto got = input_->pull(lacking(), &asked_, stop);
      if (!got.ok() && got.status().code() == StatusCode::kCancelled) return got.status();
      if (!got.ok()) failure_ = got.status();
      ended_ = !got.ok() || *got == 0;
      Bucket* const full = sort_in(static_cast<std::int64_t>(first_epoch_ + input_->epoch_offset()));
      if (full != nullptr) return hand_out(full);
    }
    if (options_.drop_remainder) withhold();
    const auto left = std::find_if(buckets_.begin(), buckets_.end(), [](const Bucket& b) { return !b.empty(); });
    if (left != buckets_.end()) return hand_out(&*left);
    if (!failure_.ok()) return failure_;
    return std::optional<RecordBatch>();
  }

  void begin_epoch(std::uint64_t epoch) override {
    release_all();
    first_epoch_ = epoch;
    ended_ = cut_short_ = false;
    failure_ = {};
    input_->begin_epoch(epoch);
  }

  void save(StateDelta* state) override {
    input_->save(state);
    state->words.insert(state->words.end(), {first_epoch_, static_cast<std::uint64_t>(number_)});
    std::uint32_t slot = 0;
    for (const Bucket& bucket : buckets_) {
      state->words.push_back(bucket.size());
      for (const Held& held : bucket) {
        state->words.push_back(static_cast<std::uint64_t>(held.epoch) - first_epoch_);
        state->slots.push_back({op_id_, slot++, record_id(held.record)});
      }
    }
    if (slot < saved_slots_) state->slots.push_back({op_id_, slot, {.shard = kEndOfSlots}});
    saved_slots_ = slot;
  }

  Status restore(StateReader* state, RecordFetcher* fetcher) override {
    HEADRACE_RETURN_IF_ERROR(input_->restore(state, fetcher));
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(number_, count_word(state, INT64_MAX - 1));
    const std::span<const RecordId> ids = state->slots(op_id_);
    std::size_t held = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      HEADRACE_ASSIGN_OR_RETURN(const std::int64_t count, count_word(state, options_.sizes[i] - 1));
      held += static_cast<std::size_t>(count);
      if (held > ids.size()) break;
      for (std::int64_t n = 0; n < count; ++n) {
        HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t offset, state->word());
        buckets_[i].push_back({{}, static_cast<std::int64_t>(first_epoch_ + offset)});
      }
    }
    if (held != ids.size()) return invalid_argument("the saved position is not one of these buckets");
    saved_slots_ = static_cast<std::uint32_t>(held);
    return fetch_held(ids, fetcher);
  }

 private:
  struct Held {
    RecordRun record;  // one
    std::int64_t epoch;
  };
  using Bucket = std::vector<Held>;

  /// Records that the bucket lacks which lacks the fewest.
  std::size_t lacking() const {
    std::size_t fewest = SIZE_MAX;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      fewest = std::min(fewest, static_cast<std::size_t>(options_.sizes[i]) - buckets_[i].size());
    }
    return fewest;
  }

  /// Puts asked_ where it belongs; the bucket that is full then, or nullptr. From a record that cannot be read on nothing is
  /// kept, and the stream ends.
  Bucket* sort_in(std::int64_t epoch) {
    Bucket* full = nullptr;
    for (const RecordRun& run : asked_) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        const RecordRun record{run.block, run.first + i, 1};
        const std::size_t at = failure_.ok() ? bucket_of(record) : buckets_.size();
        if (at == buckets_.size()) {
          blocks_->release({&record, 1});
          continue;
        }
        buckets_[at].push_back({record, epoch});
        if (std::ssize(buckets_[at]) == options_.sizes[at]) full = &buckets_[at];
      }
    }
    return full;
  }

  std::size_t bucket_of(const RecordRun& record) {
    const Result<std::int64_t> length = length_.of(record.block->payload(record.first));
    if (!length.ok()) {
      failure_ = length.status().with(locate_(record_id(record, 0)));
      ended_ = cut_short_ = true;
      return buckets_.size();
    }
    const auto above = std::upper_bound(options_.boundaries.begin(), options_.boundaries.end(), *length);
    return static_cast<std::size_t>(above - options_.boundaries.begin());
  }

  std::optional<RecordBatch> hand_out(Bucket* bucket) {
    RecordBatch batch;
    batch.number = number_++;
    batch.full_rows = options_.sizes[static_cast<std::size_t>(bucket - buckets_.data())];
    batch.epoch = bucket->front().epoch;
    batch.cut_short = cut_short_;
    batch.runs.reserve(bucket->size());
    std::int64_t epoch = batch.epoch;
    for (const Held& held : *bucket) {
      if (held.epoch != epoch) batch.later_epochs.push_back({batch.rows, epoch = held.epoch});
      batch.runs.push_back(held.record);
      ++batch.rows;
    }
    bucket->clear();
    save(&batch.state);
    return batch;
  }

  Status fetch_held(std::span<const RecordId> ids, RecordFetcher* fetcher) {
    std::vector<RecordRun> records;
    const Status fetched = fetcher->fetch(ids, &records);
    if (!fetched.ok()) {
      blocks_->release(records);
      for (Bucket& bucket : buckets_) bucket.clear();
      return fetched;
    }
    auto next = records.begin();
    for (Bucket& bucket : buckets_) {
      for (Held& held : bucket) held.record = *next++;
    }
    return {};
  }

  /// Rows that fill no batch are dropped; a failure behind them tells how many.
  void withhold() {
    std::int64_t held = 0;
    for (const Bucket& bucket : buckets_) held += std::ssize(bucket);
    failure_ = with_withheld(failure_, held);
    release_all();
  }

  void release_all() {
    for (Bucket& bucket : buckets_) {
      for (const Held& held : bucket) blocks_->release({&held.record, 1});
      bucket.clear();
    }
  }

  const std::uint32_t op_id_;
  BlockPool* const blocks_;
  const std::function<Where(const RecordId&)> locate_;
  const std::unique_ptr<RecordStage> input_;
  const BucketOptions options_;
  FeatureLength length_;
  std::vector<Bucket> buckets_;
  std::uint64_t first_epoch_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = false;
  bool cut_short_ = false;  // the input has gone on behind the record that failed
  Status failure_;
  std::uint32_t saved_slots_ = 0;
  std::vector<RecordRun> asked_;
};

}  // namespace

std::unique_ptr<BatchStage> make_bucket_batches(const StageContext& context, std::unique_ptr<RecordStage> input,
                                                const BucketOptions& options) {
  return std::make_unique<BucketCutter>(context, std::move(input), options);
}

}  // namespace headrace

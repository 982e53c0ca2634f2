#include "pipeline/cardinality.h"

#include <algorithm>
#include <utility>

#include "pipeline/combine.h"

namespace headrace {
namespace {

// The steps that need the number of their input; kEndless passes through all of them.
std::int64_t behind(const Op& op, std::int64_t n) {
  if (n == kEndless) return n;
  if (const auto* skip = std::get_if<SkipOp>(&op.arguments)) {
    return std::max<std::int64_t>(0, n - std::max<std::int64_t>(0, skip->count));
  }
  if (const auto* shard = std::get_if<ShardOp>(&op.arguments)) {
    if (shard->options.by != ShardBy::kRecord) return n;  // the source has only this share
    if (shard->options.drop_remainder) return n / shard->num_shards;
    return n / shard->num_shards + (n % shard->num_shards > shard->index ? 1 : 0);
  }
  if (const auto* batch = std::get_if<BatchOp>(&op.arguments)) {
    const std::int64_t size = batch->options.size;
    return batch->options.drop_remainder ? n / size : n / size + (n % size != 0 ? 1 : 0);
  }
  return n;
}

// The rows of a number of batches that are all of one size, but for a last one.
class RowsOfBatches {
 public:
  RowsOfBatches(std::int64_t size, std::int64_t lacking) : size_(size), lacking_(lacking) {}

  void take() { cut(0); }
  void skip() { cut(lacking_); }
  void repeat(std::int64_t count) {  // -1: for ever
    is_last_ = is_last_ && (count == 1 || lacking_ == 0);
    lacking_ *= count;
  }
  /// Nothing when that is not known.
  std::optional<std::int64_t> rows(std::int64_t batches) const {
    return is_known_ ? std::optional(batches * size_ - lacking_) : std::nullopt;
  }

 private:
  // Some batches are gone, at the end or at the start.
  void cut(std::int64_t lacking) {
    is_known_ = is_known_ && (is_last_ || lacking_ == 0);
    lacking_ = lacking;
  }

  std::int64_t size_;
  std::int64_t lacking_;  // rows, of all batches
  bool is_last_ = true;   // none but the last batch lacks any
  bool is_known_ = true;
};

std::optional<std::int64_t> combined(const CombineOp& combine) {
  std::optional<Choices> choices;
  if (std::optional<ChoiceOptions> options = choice_options(combine)) choices.emplace(std::move(*options));
  std::optional<std::int64_t> sum = 0;
  bool all_endless = true;
  bool any_endless = false;
  for (std::uint32_t i = 0; i < combine.inputs.size(); ++i) {
    if (choices && !choices->has(i)) continue;
    const std::optional<std::int64_t> n = stream_elements(combine.inputs[i].last, *combine.inputs[i].shared);
    any_endless |= n == kEndless;
    all_endless &= n == kEndless;
    sum = sum && n ? std::optional(*sum + *n) : std::nullopt;
  }
  if (all_endless) return kEndless;
  // Which input ends first depends on the choices.
  if (stops_on_empty(combine)) return std::nullopt;
  return any_endless ? kEndless : sum;
}

}  // namespace

std::optional<std::int64_t> stream_elements(const std::shared_ptr<const Op>& last, const Dataset::Shared& shared) {
  if (const auto* resident = find_op<ResidentOp>(last)) return resident->count;
  const std::int64_t records = shared.source_records;
  if (records >= 0) return stream_elements(last, records, false);
  // An endless stream is endless whatever the source has, unless it has nothing, which open() finds out.
  const bool is_combined = find_op<CombineOp>(last) != nullptr;
  const std::optional<std::int64_t> n = stream_elements(last, 1, false);
  return is_combined || n == kEndless ? n : std::nullopt;
}

std::optional<std::int64_t> epoch_elements(const std::shared_ptr<const Op>& last, const Dataset::Shared& shared) {
  const auto* resident = find_op<ResidentOp>(last);
  if (resident != nullptr && resident->count != kEndless) return resident->count;
  const std::int64_t records = shared.source_records;
  if (records < 0 && find_op<CombineOp>(last) == nullptr) return std::nullopt;
  return stream_elements(last, records, true);
}

std::optional<std::int64_t> stream_elements(const std::shared_ptr<const Op>& last, std::int64_t source_records,
                                            bool ignore_repeat) {
  std::optional<std::int64_t> n = source_records;
  if (const auto* combine = find_op<CombineOp>(last)) n = combined(*combine);
  const bool skips_misfits = read_options(last).on_mismatch == OnMismatch::kSkip && find_op<ParseOp>(last) != nullptr;
  std::optional<RowsOfBatches> rows;
  for (const Op* op : ops_in_order(last)) {
    const std::optional<std::int64_t> before = n;
    const bool leaves_out = std::holds_alternative<FilterOp>(op->arguments) ||
                            std::holds_alternative<BucketOp>(op->arguments) ||
                            (skips_misfits && std::holds_alternative<BatchOp>(op->arguments));
    if (leaves_out) {
      if (n != kEndless && n != 0) n = std::nullopt;
      rows.reset();
    } else if (std::holds_alternative<UnbatchOp>(op->arguments)) {
      if (n && *n > 0) n = rows ? rows->rows(*n) : std::nullopt;
    } else if (const auto* take = std::get_if<TakeOp>(&op->arguments)) {
      if (take->count == 0) n = 0;
      if (take->count > 0 && n) n = *n == kEndless ? take->count : std::min(*n, take->count);
      if (rows && n != before) rows->take();
    } else if (const auto* repeat = std::get_if<RepeatOp>(&op->arguments)) {
      if (ignore_repeat) continue;
      if (rows) rows->repeat(repeat->count);
      if (repeat->count <= 0) {
        n = repeat->count < 0 ? kEndless : 0;
      } else if (n && *n != kEndless) {
        n = *n * repeat->count;
      }
    } else if (const auto* skip = std::get_if<SkipOp>(&op->arguments); skip != nullptr && skip->count < 0) {
      n = 0;
    } else if (n) {
      n = behind(*op, *n);
      if (rows && n != before && std::holds_alternative<SkipOp>(op->arguments)) rows->skip();
      if (const auto* batch = std::get_if<BatchOp>(&op->arguments)) {
        const std::int64_t size = batch->options.size;
        rows.emplace(size, *n == kEndless ? 0 : std::max<std::int64_t>(0, *n * size - *before));
      }
    }
  }
  return n;
}

}  // namespace headrace

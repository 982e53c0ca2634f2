// Makers of the stages between the source and the parser, and what they share.
//
// Each takes its input and the id of its op. `blocks` gets the records a stage drops. Semantics: DESIGN sections 2 and 3.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "batch/batch_cache.h"
#include "batch/batch_stage.h"
#include "batch/choices.h"
#include "headrace/dataset.h"
#include "headrace/filter.h"
#include "headrace/skipped.h"
#include "record/record_stage.h"

namespace headrace {

struct StageContext {
  std::uint32_t op_id = 0;
  BlockPool* blocks = nullptr;
  std::function<Where(const RecordId&)> locate = nullptr;  ///< file, record and offset of a record, for a failure
  /// Takes note of a record that cannot be used and is to be left out; a failure when there are too many. Null: it is one
  /// in any case.
  std::function<Status(const SkippedRegion&)> skip = nullptr;
};

/// How `records` an epoch were shared out in the state that a take() restores, and among how many workers they are now.
struct EqualShares {
  std::int64_t records;
  std::int64_t workers;
  std::int64_t workers_now;
};
/// The first `count` records of its input an epoch; -1 = all.
std::unique_ptr<RecordStage> make_take(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count,
                                       std::optional<EqualShares> before = std::nullopt);
/// All but the first `count`; -1 = none left.
std::unique_ptr<RecordStage> make_skip(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count);
/// Records index, index + num_shards, … of its input. `shards_before`: the state that is restored was saved by any one of so many
/// workers, after as many records as each of the others had; restore() passes over what these had, and counts from 0 there.
std::unique_ptr<RecordStage> make_shard(const StageContext&, std::unique_ptr<RecordStage> input,
                                        std::int64_t num_shards, std::int64_t index,
                                        std::optional<std::int64_t> shards_before = std::nullopt);
/// The records that `filter` (validated) keeps, evaluated by the thread that pulls.
std::unique_ptr<RecordStage> make_filter(const StageContext&, std::unique_ptr<RecordStage> input, const Filter& filter);
/// Its input `count` times; -1 = for ever. An endless repeat of an empty input is a failure.
std::unique_ptr<RecordStage> make_repeat(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count);
/// Its inputs, one behind the other. All begin their epochs together.
std::unique_ptr<RecordStage> make_concatenate(std::vector<std::unique_ptr<RecordStage>> inputs);
/// Each record from one of its inputs. One that has ended is passed over, or ends the stream with `stop_on_empty`; the
/// stream ends in any case when every input that can be chosen has.
std::unique_ptr<RecordStage> make_choose(const StageContext&, std::vector<std::unique_ptr<RecordStage>> inputs,
                                         ChoiceOptions options, bool stop_on_empty);

/// The rows of batches as records again.
std::unique_ptr<RecordStage> make_unbatch(const StageContext&, std::unique_ptr<BatchStage> input);

struct ShuffleStageOptions {
  std::int64_t buffer_size = 1;
  std::uint64_t seed = 0;
  bool reshuffle_each_iteration = true;
  /// Epochs of the input that this stage runs through, fused (DESIGN section 3 "Epochs"): 1 = no repeat, -1 = for ever.
  std::int64_t epochs = 1;
};
std::unique_ptr<RecordStage> make_shuffle(const StageContext&, std::unique_ptr<RecordStage> input,
                                          const ShuffleStageOptions& options);

/// What does not fit in a batch that is about to be handed out.
struct Misfits {
  std::vector<std::int64_t> rows;  ///< ascending; they are left out, and the next records of the input take their place
  /// Ends the stream at the last of `rows`: what stands behind it is not handed out. kCancelled: nothing was decided.
  Status failure;
};
using FindMisfits = std::function<Misfits(const RecordBatch&, const std::stop_token&)>;

/// Cuts batches of `size` rows. `find_misfits` (may be null) is asked about each before it is handed out, as often as it
/// finds something.
std::unique_ptr<BatchStage> make_batch(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t size,
                                       bool drop_remainder, FindMisfits find_misfits = nullptr);
/// Batches of records of similar length. Where the input ends, what the buckets hold comes in their order.
std::unique_ptr<BatchStage> make_bucket_batches(const StageContext&, std::unique_ptr<RecordStage> input,
                                                const BucketOptions& options);
enum class Enumerate : std::uint8_t { kRows, kBatches };
/// Counts rows or batches from `start`, anew in each epoch; RecordBatch::numbers.
std::unique_ptr<BatchStage> make_enumerate(const StageContext&, std::unique_ptr<BatchStage> input, std::int64_t start,
                                           Enumerate what);
/// Its input, read as epoch 0, until `cache` (which outlives the stage) has all of it; then what that has. Places of batches:
/// RecordBatch::cache.
std::unique_ptr<BatchStage> make_cache(const StageContext&, std::unique_ptr<BatchStage> input, BatchCache* cache);
std::unique_ptr<BatchStage> make_take_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                              std::int64_t count);
std::unique_ptr<BatchStage> make_skip_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                              std::int64_t count);
std::unique_ptr<BatchStage> make_repeat_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                                std::int64_t count);

}  // namespace headrace

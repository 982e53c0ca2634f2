// Makers of the stages between the source and the parser, and what they share.
//
// Each takes its input and the id of its op. `blocks` gets the records a stage drops. Semantics: DESIGN sections 2 and 3.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "batch/batch_stage.h"
#include "headrace/filter.h"
#include "record/record_stage.h"

namespace headrace {

struct StageContext {
  std::uint32_t op_id = 0;
  BlockPool* blocks = nullptr;
  std::function<Where(const RecordId&)> locate = nullptr;  ///< file, record and offset of a record, for a failure
};

/// The first `count` records of its input an epoch; -1 = all.
std::unique_ptr<RecordStage> make_take(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count);
/// All but the first `count`; -1 = none left.
std::unique_ptr<RecordStage> make_skip(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count);
/// Records index, index + num_shards, … of its input.
std::unique_ptr<RecordStage> make_shard(const StageContext&, std::unique_ptr<RecordStage> input,
                                        std::int64_t num_shards, std::int64_t index);
/// The records that `filter` (validated) keeps, evaluated by the thread that pulls.
std::unique_ptr<RecordStage> make_filter(const StageContext&, std::unique_ptr<RecordStage> input, const Filter& filter);
/// Its input `count` times; -1 = for ever. An endless repeat of an empty input is a failure.
std::unique_ptr<RecordStage> make_repeat(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t count);

struct ShuffleStageOptions {
  std::int64_t buffer_size = 1;
  std::uint64_t seed = 0;
  bool reshuffle_each_iteration = true;
  /// Epochs of the input that this stage runs through, fused (DESIGN section 3 "Epochs"): 1 = no repeat, -1 = for ever.
  std::int64_t epochs = 1;
};
std::unique_ptr<RecordStage> make_shuffle(const StageContext&, std::unique_ptr<RecordStage> input,
                                          const ShuffleStageOptions& options);

/// Cuts batches of `size` rows.
std::unique_ptr<BatchStage> make_batch(const StageContext&, std::unique_ptr<RecordStage> input, std::int64_t size,
                                       bool drop_remainder);
std::unique_ptr<BatchStage> make_take_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                              std::int64_t count);
std::unique_ptr<BatchStage> make_skip_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                              std::int64_t count);
std::unique_ptr<BatchStage> make_repeat_batches(const StageContext&, std::unique_ptr<BatchStage> input,
                                                std::int64_t count);

}  // namespace headrace

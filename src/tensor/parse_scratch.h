// ParseScratch: what one task works with: the reader with its learned layouts, and memory for one record's views.
//
// A task takes one at its start and gives it back at its end: one lock per task, none per record.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "example/example_reader.h"
#include "example/sequence_reader.h"
#include "example/tensor_proto.h"
#include "image/image_decoder.h"
#include "runtime/mutex.h"
#include "tensor/batch_parser.h"
#include "tensor/column_plan.h"
#include "tensor/copy.h"
#include "tensor/run_transforms.h"

namespace headrace {

/// Where one ragged dimension of a feature list stands while its steps are walked.
struct LevelCursor {
  StepReader steps;  ///< of the partition's list
  std::int64_t* ends = nullptr;
  std::int64_t base = 0;
};

struct ParseScratch {
  explicit ParseScratch(const ColumnPlan& plan)
      : reader(plan.keys),
        views(plan.keys->size()),
        sequence_reader(plan.list_keys),
        lists(plan.list_keys->size()),
        cursors(plan.steps.size()),
        staging(plan.staging_bytes),
        staged_to(plan.staged.size()),
        staged_rows(plan.largest_staged),
        row_values(plan.largest_direct),
        clocks(plan.transformed.size()) {
    for (const Feature& feature : plan.features) {
      const bool is_image = feature.kind == FeatureKind::kImage;
      images.push_back(is_image ? std::make_unique<ImageDecoder>(feature.image, feature.dtype, feature.shape)
                                : nullptr);
    }
  }

  RowMemory row;  ///< one record that was not in memory
  ExampleReader reader;
  std::vector<FeatureView> views;      ///< by key
  SequenceReader sequence_reader;      ///< SequenceExamples only, as the next three
  std::vector<FeatureListView> lists;  ///< by key of feature lists
  StepScratch step;
  std::vector<LevelCursor> levels;
  std::vector<std::uint8_t*> cursors;                 ///< by step: slot of the next row in a dense column
  std::size_t failed_step = 0;                        ///< of the row that failed
  CopyMode mode;                                      ///< of the phase that runs
  std::vector<std::unique_ptr<ImageDecoder>> images;  ///< by feature; null for those that are no images
  std::uint64_t row_key = 0;                          ///< of the row that is parsed
  TensorProtoView tensor;
  std::vector<std::string_view> strings;
  std::vector<std::int64_t> integers;
  std::vector<std::int64_t> order;
  std::vector<std::uint8_t> bytes;
  Shape dims;                        ///< of one record's tensor
  std::vector<std::uint8_t> values;  ///< of one record's tensor that cannot be copied as it is

  // For columns with transforms.
  std::vector<std::uint8_t> staging;      ///< kStagedRows rows of each staged step
  std::vector<std::uint8_t*> staged_to;   ///< by staged step: slot in the column of the first row in there
  std::vector<std::uint8_t> staged_rows;  ///< what becomes of one step's, when they are apart in the column
  std::vector<std::uint8_t> row_values;   ///< one row before its transforms
  TransformScratch transform;
  std::vector<TransformClock> clocks;  ///< by StepTransforms::number
};

/// Whether the last record was a SequenceExample that is read as an Example.
inline bool ignored_feature_lists(const ColumnPlan& plan, const ParseScratch& scratch) {
  return !plan.schema.sequence && scratch.reader.saw_feature_lists();
}

class ScratchPool {
 public:
  explicit ScratchPool(std::shared_ptr<const ColumnPlan> plan) : plan_(std::move(plan)) {}

  std::unique_ptr<ParseScratch> take() HEADRACE_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<ParseScratch> scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<ParseScratch>(*plan_);
  }
  void give_back(std::unique_ptr<ParseScratch> scratch) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  const std::shared_ptr<const ColumnPlan> plan_;
  Mutex mutex_;
  std::vector<std::unique_ptr<ParseScratch>> free_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

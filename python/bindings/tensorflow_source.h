// TensorflowSource: what the TensorFlow op pulls slices from (python/tensorflow_op/source_abi.h).
//
// Three kinds: a running pipeline (per-replica slices), a dataset (each open() starts a pipeline of its own), and one batch
// that Python has already taken. The op knows a source by its address alone, and such an address may live on in a graph
// that is never run again; so the few bytes behind it stay until the process ends, while close() frees all the rest.
// Any thread may call anything; nothing here touches a Python object.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/batch.h"
#include "headrace/dataset.h"
#include "headrace/pipeline.h"
#include "tensorflow_plan.h"

namespace headrace::python {

/// The seed of the user's random ops: the same for the same batch and replica in every run that resumes or repeats.
struct TensorflowSeed {
  std::int32_t values[2];
};
TensorflowSeed tensorflow_seed(std::int64_t seed, std::int64_t epoch, std::int64_t batch_number, std::int64_t replica);

/// Seed of the first shuffle of `pipeline`, 0 when nothing is shuffled.
std::int64_t pipeline_seed(const Pipeline& pipeline);

/// The addresses below stay valid; close_tensorflow_source() ends what is behind them.
std::int64_t open_pipeline_source(std::shared_ptr<Pipeline> pipeline, std::shared_ptr<const TensorflowPlan> plan);
std::int64_t open_dataset_source(Dataset dataset, std::shared_ptr<const TensorflowPlan> plan);
std::int64_t open_batch_source(std::shared_ptr<const TensorflowPlan> plan);

/// What the next calls of next() on a batch source give: slice r for replica r.
void set_source_batch(std::int64_t address, std::vector<std::shared_ptr<const Slice>> slices);

/// Stops the pipeline behind `address` and wakes whoever waits for it; idempotent.
void close_tensorflow_source(std::int64_t address);
/// The same for all sources of this process.
void close_all_tensorflow_sources();

}  // namespace headrace::python

// PipelineHandle: what headrace._core.Pipeline holds.
//
// The Pipeline itself is shared, so that a consumer which runs without Python (the TensorFlow source) can outlive the Python
// object. The mutexes make calls of one kind take turns when several Python threads share one object; they are waited for
// with the GIL released, in short slices.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "column_names.h"
#include "headrace/pipeline.h"
#include "headrace/schema.h"

namespace headrace::python {

struct PipelineHandle {
  PipelineHandle(std::shared_ptr<Pipeline> p, std::shared_ptr<const Schema> s)
      : pipeline(std::move(p)), schema(std::move(s)), slice_turns(static_cast<std::size_t>(pipeline->replicas())) {}

  /// The last owner waits for the tasks that run, without the GIL: those that read through Python want it.
  ~PipelineHandle();
  PipelineHandle(const PipelineHandle&) = delete;
  PipelineHandle& operator=(const PipelineHandle&) = delete;

  const std::shared_ptr<Pipeline> pipeline;
  const std::shared_ptr<const Schema> schema;  ///< null when the records are not parsed
  /// Of the columns of every batch; known from the first one on. The GIL guards it.
  std::shared_ptr<const ColumnNames> names;
  /// None, or what is called about once a second while somebody waits in next(). The GIL guards it.
  nanobind::object on_wait = nanobind::none();
  /// How a framework takes the batches and why, for the report. The GIL guards it.
  std::string route;
  const pid_t owner = getpid();  ///< the process that opened it
  std::timed_mutex next_turn;
  std::deque<std::timed_mutex> slice_turns;  ///< one per replica
};

}  // namespace headrace::python

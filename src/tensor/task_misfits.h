// TaskMisfits: the rows that do not fit the schema, task by task, while a job is asked for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/status.h"

namespace headrace {

/// Those of one task.
struct TaskMisfits {
  std::vector<Status> found;     ///< in row order
  std::int64_t end = INT64_MAX;  ///< row of a failure of another kind: behind it nothing counts
};

/// Those of all tasks, which are in row order, with what the job failed by if that is one of them: between the phases and in the
/// second one the lowest failing row is the one that is known.
std::vector<Status> join_misfits(std::span<const TaskMisfits> tasks, const Status& failure);

}  // namespace headrace

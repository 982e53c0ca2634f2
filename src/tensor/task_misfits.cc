#include "tensor/task_misfits.h"

#include <algorithm>

namespace headrace {

std::vector<Status> join_misfits(std::span<const TaskMisfits> tasks, const Status& failure) {
  std::int64_t end = INT64_MAX;
  for (const TaskMisfits& task : tasks) end = std::min(end, task.end);
  std::vector<Status> all;
  const auto add = [&all, end](const Status& misfit) {
    if (misfit.where().row < end) all.push_back(misfit);
  };
  const bool fails = failure.code() == StatusCode::kSchemaMismatch && failure.where().row >= 0;
  const std::int64_t failing = fails ? failure.where().row : INT64_MAX;
  bool added = !fails;
  for (const TaskMisfits& task : tasks) {
    for (const Status& misfit : task.found) {
      if (!added && misfit.where().row > failing) add(failure);
      added = added || misfit.where().row >= failing;
      add(misfit);
    }
  }
  if (!added) add(failure);
  return all;
}

}  // namespace headrace

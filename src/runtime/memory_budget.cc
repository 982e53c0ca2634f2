#include "runtime/memory_budget.h"

#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "runtime/cgroup.h"

namespace headrace {

std::int64_t memory_of_process() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::int64_t limit = cgroup_limits().memory_bytes;
  if (limit > 0) bytes = std::min(bytes, limit);
  return bytes / environment_local_processes();
}

}  // namespace headrace

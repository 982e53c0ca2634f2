#include "runtime/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/environment.h"
#include "runtime/cgroup.h"

namespace headrace {

std::int64_t parse_memory_max(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t bytes = 0;
  if (!(stream >> bytes) || bytes < 0) return 0;
  return bytes;
}

std::int64_t memory_of_process() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const std::string& text : cgroup_files("memory.max")) {
    const std::int64_t limit = parse_memory_max(text);
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes / environment_local_processes();
}

}  // namespace headrace

#include "runtime/cpu_budget.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/environment.h"
#include "runtime/cgroup.h"

namespace headrace {
namespace {

double affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace

int cpu_budget() {
  double cpus = affinity();
  const double quota = cgroup_limits().cpus;
  if (quota > 0) cpus = std::min(cpus, quota);
  cpus /= environment_local_processes();
  return std::max(1, static_cast<int>(std::ceil(cpus)));
}

}  // namespace headrace

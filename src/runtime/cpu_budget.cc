#include "runtime/cpu_budget.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/environment.h"
#include "runtime/cgroup.h"

namespace headrace {
namespace {

// The smallest quota on the way from this process' cgroup (v2) to the root; 0 = none.
double cgroup_quota() {
  double smallest = 0;
  for (const std::string& text : cgroup_files("cpu.max")) {
    const double quota = parse_cpu_max(text);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
  }
  return smallest;
}

double affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace

double parse_cpu_max(const std::string& text) {
  std::istringstream stream(text);
  double quota = 0;
  double period = 0;
  if (!(stream >> quota >> period) || period <= 0) return 0;
  return quota / period;
}

int cpu_budget() {
  double cpus = affinity();
  const double quota = cgroup_quota();
  if (quota > 0) cpus = std::min(cpus, quota);
  cpus /= environment_local_processes();
  return std::max(1, static_cast<int>(std::ceil(cpus)));
}

}  // namespace headrace

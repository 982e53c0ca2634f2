// How many CPUs this process may use: ceil(min(affinity, cgroup quota)), shared by the worker processes of this host.
#pragma once

#include <string>

namespace headrace {

/// >= 1. Read anew at each call.
int cpu_budget();

/// The quota in CPUs that a cgroup v2 `cpu.max` text ("200000 100000", "max 100000") grants; 0 = none.
double parse_cpu_max(const std::string& text);

}  // namespace headrace

// The limits of the control groups of this process: version 2, version 1, or both beside each other as systemd mounts them.
// Groups are nested, and the smallest limit on the way to the root counts. Which CPUs a cpuset leaves is no question here: the
// kernel tells that as the affinity of a thread. Read anew at each call; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// 0 = no limit.
struct CgroupLimits {
  double cpus = 0;  ///< quota
  std::int64_t memory_bytes = 0;
};

/// `root` stands before every path, for tests: a folder that looks like the root of a system.
CgroupLimits cgroup_limits(const std::string& root = "");

/// The quota in CPUs that a cgroup v2 `cpu.max` text ("200000 100000", "max 100000") grants; 0 = none.
double parse_cpu_max(const std::string& text);

/// What a `memory.max` (v2) or `memory.limit_in_bytes` (v1) text ("1073741824", "max") grants; 0 = no limit.
std::int64_t parse_memory_max(const std::string& text);

}  // namespace headrace

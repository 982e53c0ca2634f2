// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// Bytes of memory of this host, or the smallest limit of a control group (v2) of this process where that is less; shared by the
/// worker processes of this host. Read anew at each call.
std::int64_t memory_of_process();

/// What a cgroup v2 `memory.max` text ("1073741824", "max") grants; 0 = no limit.
std::int64_t parse_memory_max(const std::string& text);

}  // namespace headrace

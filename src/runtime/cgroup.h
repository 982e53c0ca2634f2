// The control groups (v2) of this process. Read anew at each call; any thread.
#pragma once

#include <string>
#include <vector>

namespace headrace {

/// The texts of the file `name` ("cpu.max", …) of this process' group and of all groups above it; groups without it are
/// left out.
std::vector<std::string> cgroup_files(const std::string& name);

}  // namespace headrace

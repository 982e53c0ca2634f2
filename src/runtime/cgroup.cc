#include "runtime/cgroup.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

namespace headrace {
namespace {

// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimitBytes = std::int64_t{1} << 62;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(std::move(part));
  return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// A hierarchy of groups as it is mounted: `point` shows the group `shown` and those below it.
struct Hierarchy {
  std::string point;
  std::string shown;
};

// That of a controller of version 1, or of version 2 where `controller` is empty; without a point when there is none.
Hierarchy hierarchy_of(const std::string& root, const std::string& controller) {
  for (const std::string& line : split(read_file(root + "/proc/self/mountinfo"), '\n')) {
    // 36 35 98:0 /shown /point rw,noatime shared:1 - type source options
    const auto fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) continue;
    const bool is_it =
        controller.empty() ? dash[1] == "cgroup2" : dash[1] == "cgroup" && contains(split(dash[3], ','), controller);
    if (is_it) return {root + fields[4], fields[3]};
  }
  return {};
}

// Calls `look` with the folder of this process' group and of all groups above it that are to be seen.
void for_each_group(const std::string& root, const std::string& controller,
                    const std::function<void(const std::string& folder)>& look) {
  const Hierarchy hierarchy = hierarchy_of(root, controller);
  if (hierarchy.point.empty()) return;
  for (const std::string& line : split(read_file(root + "/proc/self/cgroup"), '\n')) {
    // 4:cpu,cpuacct:/group of version 1, 0::/group of version 2
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !controllers.empty() : !contains(split(controllers, ','), controller)) continue;
    std::string group = line.substr(second + 1);
    // In a container the mount may show the container's own group as its root.
    if (hierarchy.shown != "/" && group.starts_with(hierarchy.shown)) group.erase(0, hierarchy.shown.size());
    for (;;) {
      look(hierarchy.point + group);
      const auto slash = group.rfind('/');
      if (slash == std::string::npos || group == "/") break;
      group.resize(slash);
    }
  }
}

template <class Number>
void limit(Number* smallest, Number next) {
  if (next > 0 && (*smallest == 0 || next < *smallest)) *smallest = next;
}

double parse_number(const std::string& text) {
  std::istringstream stream(text);
  double number = 0;
  return stream >> number ? number : 0;
}

}  // namespace

double parse_cpu_max(const std::string& text) {
  std::istringstream stream(text);
  double quota = 0;
  double period = 0;
  if (!(stream >> quota >> period) || period <= 0) return 0;
  return quota / period;
}

std::int64_t parse_memory_max(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t bytes = 0;
  if (!(stream >> bytes) || bytes < 0 || bytes >= kNoLimitBytes) return 0;
  return bytes;
}

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  for_each_group(root, "", [&limits](const std::string& folder) {
    limit(&limits.cpus, parse_cpu_max(read_file(folder + "/cpu.max")));
    limit(&limits.memory_bytes, parse_memory_max(read_file(folder + "/memory.max")));
  });
  for_each_group(root, "cpu", [&limits](const std::string& folder) {
    const double period = parse_number(read_file(folder + "/cpu.cfs_period_us"));
    const double quota = parse_number(read_file(folder + "/cpu.cfs_quota_us"));  // -1: none
    if (period > 0) limit(&limits.cpus, quota / period);
  });
  for_each_group(root, "memory", [&limits](const std::string& folder) {
    limit(&limits.memory_bytes, parse_memory_max(read_file(folder + "/memory.limit_in_bytes")));
  });
  return limits;
}

}  // namespace headrace

#include "runtime/cgroup.h"

#include <fstream>
#include <sstream>

namespace headrace {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::vector<std::string> cgroup_files(const std::string& name) {
  std::vector<std::string> texts;
  std::istringstream lines(read_file("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    std::string group = line.substr(3);
    for (;;) {
      std::string text = read_file("/sys/fs/cgroup" + group + "/" + name);
      if (!text.empty()) texts.push_back(std::move(text));
      const auto slash = group.rfind('/');
      if (slash == std::string::npos || group == "/") break;
      group.resize(slash);
    }
  }
  return texts;
}

}  // namespace headrace

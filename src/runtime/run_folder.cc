#include "runtime/run_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/environment.h"

namespace headrace {
namespace {

// A folder of this user's alone.
bool make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  return info.st_uid == ::geteuid() && (info.st_mode & 0022) == 0 && ::access(path.c_str(), W_OK | X_OK) == 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = ::readdir(entries)) names.emplace_back(entry->d_name);  // NOLINT(concurrency-mt-unsafe)
  ::closedir(entries);
  return names;
}

}  // namespace

std::string run_folder() {
  const std::string session = environment_text("XDG_RUNTIME_DIR");
  if (session.starts_with('/')) {
    std::string folder = session + "/headrace";
    if (make_own_folder(folder)) return folder;
  }
  std::string folder = "/tmp/headrace-" + std::to_string(::geteuid());
  return make_own_folder(folder) ? folder : "";
}

std::optional<std::int64_t> process_start(std::int32_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The second field is the name, which may hold spaces and brackets: fields are counted behind its last bracket.
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(bracket + 1));
  std::string word;
  for (int field = 3; field <= 22; ++field) {
    if (!(fields >> word)) return std::nullopt;
  }
  std::int64_t start = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), start);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return start;
}

void sweep_run_folder(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    // PROCESS-START-NUMBER.status
    std::int32_t process = 0;
    std::int64_t start = 0;
    const char* const end = name.data() + name.size();
    const auto first = std::from_chars(name.data(), end, process);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') continue;
    const auto second = std::from_chars(first.ptr + 1, end, start);
    if (second.ec != std::errc() || second.ptr == end || *second.ptr != '-' || !name.ends_with(".status")) continue;
    if (process_start(process) != start) ::unlink((folder + "/" + name).c_str());
  }
}

}  // namespace headrace

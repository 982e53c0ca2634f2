#include "shard/file_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "shard/byte_source.h"
#include "shard/content.h"
#include "shard/file_failure.h"
#include "shard/shard_names.h"

namespace headrace {
namespace {

constexpr std::size_t kNamedFiles = 8;

// Candidates of a data set, before they are looked at one by one.
struct Candidates {
  std::vector<std::string> paths;
  std::vector<std::string> warnings;
};

bool has_glob_characters(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

void warn_left_out(const std::vector<std::string>& names, const std::string& where,
                   std::vector<std::string>* warnings) {
  if (names.empty()) return;
  warnings->push_back("left out of " + where + ": " + join_some(names, kNamedFiles));
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<Candidates> match_pattern(const std::string& pattern) {
  static thread_local std::string unreadable;  // glob's callback takes no context
  static thread_local int unreadable_error;
  unreadable.clear();
  glob_t found{};
  const int code = ::glob(
      pattern.c_str(), GLOB_NOSORT | GLOB_ERR,
      [](const char* path, int error) {
        // Part of a pattern that names no folder, or one that vanished, just does not match.
        if (error == ENOTDIR || error == ENOENT) return 0;
        unreadable = path;
        unreadable_error = error;
        return 1;
      },
      &found);
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, ::globfree);
  if (code == GLOB_ABORTED) return file_failure("cannot list the folder", unreadable, unreadable_error);
  if (code == GLOB_NOSPACE) return Status(StatusCode::kResourceExhausted, "no memory to list " + pattern);
  Candidates candidates;
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    std::string path = found.gl_pathv[i];
    const bool side = is_side_file(base_name(path)) || is_directory(path);
    (side ? left_out : candidates.paths).push_back(std::move(path));
  }
  if (candidates.paths.empty()) {
    std::string text = "No files matched pattern: " + pattern;
    if (!left_out.empty()) text += " (left out: " + join_some(left_out, kNamedFiles) + ")";
    return Status(StatusCode::kNotFound, text, {.path = pattern});
  }
  std::sort(candidates.paths.begin(), candidates.paths.end());
  std::sort(left_out.begin(), left_out.end());
  warn_left_out(left_out, "the pattern", &candidates.warnings);
  const std::vector<std::string> missing = missing_shards(candidates.paths, kNamedFiles + 1);
  if (!missing.empty()) {
    candidates.warnings.push_back("the pattern matches sets of shards in part; not there: " +
                                  join_some(missing, kNamedFiles));
  }
  return candidates;
}

// By content; a name that promises records is believed, so that a damaged shard is an error and not left out.
bool holds_records(const std::string& path) {
  if (is_record_name(base_name(path))) return true;
  const auto source = open_byte_source(path, Compression::kAuto);
  if (!source.ok()) return false;
  std::array<std::uint8_t, kContentBytes> head;
  const auto n = (*source)->read(head.data(), head.size());
  return n.ok() && starts_with_record({head.data(), *n});
}

Result<Candidates> list_folder(const std::string& folder, FileKind kind) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (directory == nullptr) return file_failure("cannot list the folder", folder, errno);
  const std::string base = folder.ends_with('/') ? folder : folder + "/";
  Candidates candidates;
  std::vector<std::string> left_out;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe): a DIR of our own
    const std::string name = entry->d_name;
    if (is_side_file(name)) continue;
    const std::string path = base + name;
    if (!is_directory(path) && (kind == FileKind::kAny || holds_records(path))) {
      candidates.paths.push_back(path);
    } else {
      left_out.push_back(name);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  if (candidates.paths.empty()) {
    std::string text = kind == FileKind::kAny ? "no file in the folder" : "no TFRecord file in the folder";
    if (!left_out.empty()) text += "; it holds " + join_some(left_out, kNamedFiles);
    return Status(StatusCode::kNotFound, text, {.path = folder});
  }
  std::sort(candidates.paths.begin(), candidates.paths.end());
  const std::vector<std::string> missing = missing_shards(candidates.paths, kNamedFiles + 1);
  if (!missing.empty()) {
    return Status(StatusCode::kNotFound, "the folder lacks shards of its sets: " + join_some(missing, kNamedFiles),
                  {.path = missing.front()});
  }
  warn_left_out(left_out, "the folder", &candidates.warnings);
  return candidates;
}

Result<Candidates> find_candidates(const FileSpec& spec) {
  if (spec.items.empty()) return invalid_argument("nothing to read: the list of files is empty");
  for (const std::string& item : spec.items) {
    if (item.empty()) return invalid_argument("nothing to read: an empty path");
    if (item.find('\0') != std::string::npos) return invalid_argument("a path holds a NUL byte: " + item);
  }
  if (spec.is_list) return Candidates{.paths = spec.items};
  const std::string& item = spec.items.front();
  if (is_directory(item)) return list_folder(item, spec.kind);
  struct stat info {};
  if (::stat(item.c_str(), &info) != 0 && errno == ENOENT && has_glob_characters(item)) return match_pattern(item);
  return Candidates{.paths = {item}};
}

// What is wrong with paths, by kind, the worst kind first.
class Problems {
 public:
  void add(const std::string& path, const Status& status) {
    auto& kind = kinds_[status.code()];
    if (kind.paths.empty()) kind.first = status;
    kind.paths.push_back(path);
    ++count_;
  }
  Status status(std::size_t files) const {
    if (count_ == 0) return {};
    const auto& [code, worst] = *kinds_.begin();
    if (count_ == 1) return worst.first;
    std::string text = std::to_string(count_) + " of " + std::to_string(files) + " files cannot be read";
    for (const auto& [kind_code, kind] : kinds_) {
      text += "; " + kind.first.message() + ": " + join_some(kind.paths, kNamedFiles);
    }
    return {code, text, {.path = worst.paths.front()}};
  }

 private:
  struct Kind {
    std::vector<std::string> paths;
    Status first;
  };
  std::map<StatusCode, Kind> kinds_;
  std::size_t count_ = 0;
};

// Null when the file can be read; nothing is opened.
Status look_at(const std::string& path, struct stat* info) {
  if (::stat(path.c_str(), info) != 0) return file_failure("cannot open", path, errno);
  if (S_ISDIR(info->st_mode)) return file_failure("cannot read", path, EISDIR);
  if (!S_ISREG(info->st_mode)) return {StatusCode::kIo, "cannot read: not a regular file", {.path = path}};
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) return file_failure("cannot open", path, errno);
  return {};
}

}  // namespace

Result<ShardList> find_shards(const FileSpec& spec) {
  HEADRACE_ASSIGN_OR_RETURN(Candidates candidates, find_candidates(spec));
  ShardList list{.warnings = std::move(candidates.warnings)};
  Problems problems;
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  std::vector<std::string> doubles;
  std::vector<std::string> empty;
  for (std::string& path : candidates.paths) {
    struct stat info {};
    const Status status = look_at(path, &info);
    if (!status.ok()) {
      problems.add(path, status);
      continue;
    }
    const auto [first, is_new] = seen.emplace(std::pair(info.st_dev, info.st_ino), path);
    if (!is_new) doubles.push_back(first->second == path ? path : path + " (which is " + first->second + ")");
    if (info.st_size == 0 && spec.kind == FileKind::kRecords) empty.push_back(path);
    list.files.push_back({std::move(path), static_cast<std::uint64_t>(info.st_size)});
  }
  HEADRACE_RETURN_IF_ERROR(problems.status(candidates.paths.size()));
  if (!doubles.empty()) list.warnings.push_back("the same file is read twice: " + join_some(doubles, kNamedFiles));
  if (!empty.empty()) list.warnings.push_back("shards of 0 bytes: " + join_some(empty, kNamedFiles));
  return list;
}

}  // namespace headrace

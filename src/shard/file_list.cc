#include "shard/file_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "shard/byte_source.h"
#include "shard/content.h"
#include "shard/file_failure.h"
#include "shard/provided_file.h"
#include "shard/shard_names.h"

namespace headrace {
namespace {

constexpr std::size_t kNamedFiles = 8;

// Candidates of a data set, before they are looked at one by one.
struct Candidates {
  std::vector<ShardFile> files;  // those behind URLs were looked at
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

std::vector<std::string> paths_of(const std::vector<ShardFile>& files) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const ShardFile& file : files) paths.push_back(file.path);
  return paths;
}

void sort_by_path(std::vector<ShardFile>* files) {
  std::sort(files->begin(), files->end(), [](const ShardFile& a, const ShardFile& b) { return a.path < b.path; });
}

// What a pattern matches, local or not.
Result<Candidates> matched(const std::string& pattern, std::vector<ShardFile> files,
                           std::vector<std::string> left_out) {
  Candidates candidates{.files = std::move(files)};
  if (candidates.files.empty()) {
    std::string text = "No files matched pattern: " + pattern;
    if (!left_out.empty()) text += " (left out: " + join_some(left_out, kNamedFiles) + ")";
    return Status(StatusCode::kNotFound, text, {.path = pattern});
  }
  sort_by_path(&candidates.files);
  std::sort(left_out.begin(), left_out.end());
  warn_left_out(left_out, "the pattern", &candidates.warnings);
  const std::vector<std::string> missing = missing_shards(paths_of(candidates.files), kNamedFiles + 1);
  if (!missing.empty()) {
    candidates.warnings.push_back("the pattern matches sets of shards in part; not there: " +
                                  join_some(missing, kNamedFiles));
  }
  return candidates;
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
  std::vector<ShardFile> files;
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    std::string path = found.gl_pathv[i];
    const bool side = is_side_file(base_name(path)) || is_directory(path);
    if (side) {
      left_out.push_back(std::move(path));
    } else {
      files.push_back({.path = std::move(path)});
    }
  }
  return matched(pattern, std::move(files), std::move(left_out));
}

// By content; a name that promises records is believed, so that a damaged shard is an error and not left out.
bool holds_records(const ShardFile& file) {
  if (is_record_name(base_name(file.path))) return true;
  const auto source = open_byte_source(file, Compression::kAuto);
  if (!source.ok()) return false;
  std::array<std::uint8_t, kContentBytes> head;
  const auto n = (*source)->read(head.data(), head.size());
  return n.ok() && starts_with_record({head.data(), *n});
}

// The files among those of a folder, local or not, that are asked for.
Result<Candidates> take_files(const std::string& folder, FileKind wanted, std::vector<ShardFile> files,
                              std::vector<std::string> left_out) {
  Candidates candidates;
  for (ShardFile& file : files) {
    const std::string name(base_name(file.path));
    if (is_side_file(name)) continue;
    if (wanted == FileKind::kAny || holds_records(file)) {
      candidates.files.push_back(std::move(file));
    } else {
      left_out.push_back(name);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  if (candidates.files.empty()) {
    std::string text = wanted == FileKind::kAny ? "no file in the folder" : "no TFRecord file in the folder";
    if (!left_out.empty()) text += "; it holds " + join_some(left_out, kNamedFiles);
    return Status(StatusCode::kNotFound, text, {.path = folder});
  }
  sort_by_path(&candidates.files);
  const std::vector<std::string> missing = missing_shards(paths_of(candidates.files), kNamedFiles + 1);
  if (!missing.empty()) {
    return Status(StatusCode::kNotFound, "the folder lacks shards of its sets: " + join_some(missing, kNamedFiles),
                  {.path = missing.front()});
  }
  warn_left_out(left_out, "the folder", &candidates.warnings);
  return candidates;
}

Result<Candidates> list_folder(const std::string& folder, FileKind wanted) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (directory == nullptr) return file_failure("cannot list the folder", folder, errno);
  const std::string base = folder.ends_with('/') ? folder : folder + "/";
  std::vector<ShardFile> files;
  std::vector<std::string> folders;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe): a DIR of our own
    const std::string name = entry->d_name;
    if (is_side_file(name)) continue;
    if (is_directory(base + name)) {
      folders.push_back(name);
    } else {
      files.push_back({.path = base + name});
    }
  }
  return take_files(folder, wanted, std::move(files), std::move(folders));
}

// A single URL: an object, else what a pattern matches, or a folder.
Result<Candidates> find_behind_url(RemoteFinder* finder, const std::string& url, FileKind wanted) {
  const bool has_lists = !url.starts_with("http");
  if (has_lists && has_glob_characters(url)) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<ShardFile> files, finder->match(url));
    std::vector<std::string> left_out;
    std::erase_if(files, [&left_out](const ShardFile& file) {
      const bool is_side = is_side_file(base_name(file.path));
      if (is_side) left_out.push_back(file.path);
      return is_side;
    });
    return matched(url, std::move(files), std::move(left_out));
  }
  Status missing;
  if (!has_lists || !url.ends_with('/')) {
    Result<ShardFile> found = std::move(finder->look_at({&url, 1}).front());
    if (found.ok()) return Candidates{.files = {std::move(*found)}};
    missing = found.status();
    // Whoever may list a folder may be refused the object of its name, which is not there.
    const bool may_be_folder =
        missing.code() == StatusCode::kNotFound || missing.code() == StatusCode::kPermissionDenied;
    if (!has_lists || !may_be_folder) return missing;
  }
  Result<std::vector<ShardFile>> files = finder->list_folder(url);
  if (!files.ok() || files->empty()) {
    if (!missing.ok()) return missing;
    if (!files.ok()) return files.status();
  }
  return take_files(url, wanted, std::move(*files), {});
}

Status check_items(const FileSpec& spec) {
  if (spec.items.empty()) return invalid_argument("nothing to read: the list of files is empty");
  for (const std::string& item : spec.items) {
    if (item.empty()) return invalid_argument("nothing to read: an empty path");
    if (item.find('\0') != std::string::npos) return invalid_argument("a path holds a NUL byte: " + item);
  }
  return {};
}

Result<Candidates> find_local(const std::string& item, FileKind wanted) {
  if (is_directory(item)) return list_folder(item, wanted);
  struct stat info {};
  if (::stat(item.c_str(), &info) != 0 && errno == ENOENT && has_glob_characters(item)) return match_pattern(item);
  return Candidates{.files = {{.path = item}}};
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

// Looks at single files; what cannot be read goes to `problems`.
std::vector<ShardFile> look_at_all(std::vector<ShardFile> files, std::vector<std::string>* doubles,
                                   Problems* problems) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  std::set<std::string> seen_urls;
  std::vector<ShardFile> readable;
  readable.reserve(files.size());
  for (ShardFile& file : files) {
    if (file.origin != nullptr) {
      if (!seen_urls.insert(file.path).second) doubles->push_back(file.path);
      readable.push_back(std::move(file));
      continue;
    }
    struct stat info {};
    const Status status = look_at(file.path, &info);
    if (!status.ok()) {
      problems->add(file.path, status);
      continue;
    }
    const auto [first, is_new] = seen.emplace(std::pair(info.st_dev, info.st_ino), file.path);
    if (!is_new)
      doubles->push_back(first->second == file.path ? file.path : file.path + " (which is " + first->second + ")");
    file.bytes = static_cast<std::uint64_t>(info.st_size);
    readable.push_back(std::move(file));
  }
  return readable;
}

// A list of literal paths and URLs.
std::vector<ShardFile> look_at_urls(const std::vector<std::string>& items, RemoteFinder* finder, Problems* problems) {
  std::vector<std::string> urls;
  std::copy_if(items.begin(), items.end(), std::back_inserter(urls), is_remote);
  std::vector<Result<ShardFile>> found;
  if (finder != nullptr) found = finder->look_at(urls);
  std::vector<ShardFile> files;
  files.reserve(items.size());
  auto next = found.begin();
  for (const std::string& item : items) {
    if (!is_remote(item)) {
      files.push_back({.path = item});
      continue;
    }
    Result<ShardFile>& file = *next++;
    if (file.ok()) {
      files.push_back(std::move(*file));
    } else {
      problems->add(shown_path(item), file.status());
    }
  }
  return files;
}

}  // namespace

Result<ShardList> find_shards(const FileSpec& spec) {
  HEADRACE_RETURN_IF_ERROR(check_items(spec));
  ShardList list;
  std::unique_ptr<RemoteFinder> finder;
  const bool is_provided = spec.provider != nullptr;
  if (!is_provided && std::any_of(spec.items.begin(), spec.items.end(), is_remote)) {
    RemoteOptions remote = spec.remote;
    remote.warnings = list.later;
    HEADRACE_ASSIGN_OR_RETURN(finder, make_remote_finder(remote, list.stop.get_token()));
  }
  Problems problems;
  Candidates candidates;
  if (is_provided) {
    HEADRACE_ASSIGN_OR_RETURN(candidates.files,
                              find_provided(spec.provider, spec.items, spec.is_list, list.stop.get_token()));
  } else if (spec.is_list) {
    candidates.files = look_at_urls(spec.items, finder.get(), &problems);
  } else {
    const std::string& item = spec.items.front();
    HEADRACE_ASSIGN_OR_RETURN(
        candidates, finder != nullptr ? find_behind_url(finder.get(), item, spec.kind) : find_local(item, spec.kind));
  }
  const std::size_t count = spec.is_list ? spec.items.size() : candidates.files.size();
  std::vector<std::string> doubles;
  list.files = look_at_all(std::move(candidates.files), &doubles, &problems);
  HEADRACE_RETURN_IF_ERROR(problems.status(count));
  list.warnings = std::move(candidates.warnings);
  std::vector<std::string> empty;
  for (const ShardFile& file : list.files) {
    if (file.bytes == 0 && spec.kind == FileKind::kRecords) empty.push_back(file.path);
  }
  if (!doubles.empty()) list.warnings.push_back("the same file is read twice: " + join_some(doubles, kNamedFiles));
  if (!empty.empty()) list.warnings.push_back("shards of 0 bytes: " + join_some(empty, kNamedFiles));
  return list;
}

Result<ShardFile> find_shard(const std::string& path, const std::shared_ptr<const FileProvider>& provider) {
  if (provider != nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<ShardFile> found, find_provided(provider, {path}, true, std::stop_token()));
    return std::move(found.front());
  }
  if (!is_remote(path)) return ShardFile{.path = path};
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RemoteFinder> finder, make_remote_finder({}, std::stop_token()));
  return std::move(finder->look_at({&path, 1}).front());
}

}  // namespace headrace

// Which files a data set consists of: paths, patterns, folders, lists. DESIGN section 2 "Files" is the contract.
// Pure functions of their arguments and of the file system; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/status.h"

namespace headrace {

/// What the files of a folder are asked for.
enum class FileKind : std::uint8_t {
  kRecords = 1,  ///< that they hold records, by content; an empty one is worth a warning
  kAny,          ///< nothing
};

/// What the user named: one string (path, pattern or folder) or a list of literal paths.
struct FileSpec {
  std::vector<std::string> items;
  bool is_list = false;
  FileKind kind = FileKind::kRecords;
};

struct ShardFile {
  std::string path;
  std::uint64_t bytes = 0;
};

struct ShardList {
  std::vector<ShardFile> files;       ///< in reading order
  std::vector<std::string> warnings;  ///< same file twice, empty shard, files left out, …
};

/// Stats every path at once. Failures: kNotFound (all missing paths in one text; empty pattern; folder without shards;
/// missing -of-N shard), kPermissionDenied, kIo (directory in a list, FIFO), kInvalidArgument (empty list).
Result<ShardList> find_shards(const FileSpec& spec);

}  // namespace headrace

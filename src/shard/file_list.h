// Which files a data set consists of: paths, patterns, folders, lists; local ones and those behind URLs. DESIGN section 2
// "Files" is the contract. Functions of their arguments, of the file system and of servers; any thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/file_provider.h"
#include "headrace/status.h"
#include "shard/remote.h"
#include "shard/stored_file.h"

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
  /// Finds and opens them instead of this library; may be null.
  std::shared_ptr<const FileProvider> provider = nullptr;
  RemoteOptions remote = {};
};

struct ShardList {
  std::vector<ShardFile> files;       ///< in reading order
  std::vector<std::string> warnings;  ///< same file twice, empty shard, files left out, …
  /// What shows while the files are read; once per cause.
  std::shared_ptr<WarningLog> later = std::make_shared<WarningLog>();
  /// Ends every wait of the files for a network, for good.
  std::stop_source stop;
};

/// Looks at every path at once. Failures: kNotFound (all missing paths in one text; empty pattern; folder without shards;
/// missing -of-N shard), kPermissionDenied, kIo (directory in a list, FIFO), kInvalidArgument (empty list).
Result<ShardList> find_shards(const FileSpec& spec);

/// One literal path or URL, or a file of `provider` when there is one; of a local file nothing is looked at.
Result<ShardFile> find_shard(const std::string& path, const std::shared_ptr<const FileProvider>& provider);

}  // namespace headrace

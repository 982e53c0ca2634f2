// Objects behind URLs, seen from the list of files: https://, http://, s3://, gs://. What is behind it lies in remote/.
//
// A build without HEADRACE_REMOTE has none of them: every call is kInvalidArgument then.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/status.h"
#include "runtime/warnings.h"
#include "shard/stored_file.h"

namespace headrace {

/// True for names that begin with one of the schemes.
bool is_remote(std::string_view path);
/// A URL without user, password and query; what is no URL as it is.
std::string shown_path(const std::string& path);

struct RemoteOptions {
  /// Bytes that all files of one finder read ahead together.
  std::int64_t read_ahead_bytes = std::int64_t{128} << 20;
  /// Folder that keeps what was read, and what it may hold; empty: none.
  std::string cache_dir;
  std::int64_t cache_bytes = 0;
  /// What is to be told while the files are read; may be null.
  std::shared_ptr<WarningLog> warnings = nullptr;
};

/// Finds objects and hands them out as origins, which share its connections. One caller at a time.
class RemoteFinder {
 public:
  virtual ~RemoteFinder() = default;

  /// Asks for size and version of each, many at a time; one outcome for each URL.
  virtual std::vector<Result<ShardFile>> look_at(std::span<const std::string> urls) = 0;
  /// The objects whose names match the pattern `url` (*, ?, […]; none of them matches a slash), by name.
  virtual Result<std::vector<ShardFile>> match(const std::string& url) = 0;
  /// The objects right in the folder `url`, by name.
  virtual Result<std::vector<ShardFile>> list_folder(const std::string& url) = 0;
};

/// `stop` ends every wait of the finder and of the files that are opened by its origins, with kCancelled.
Result<std::unique_ptr<RemoteFinder>> make_remote_finder(const RemoteOptions& options, const std::stop_token& stop);

}  // namespace headrace

// PartCache: parts of remote objects kept in a folder of the local disk, up to a limit, shared by any number of processes.
//
// An entry is a file that gets its name when it is whole, and ends in its checksum. When there is too much, the entries that were
// not used for the longest time go; one process at a time sees to that. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headrace/status.h"
#include "runtime/mutex.h"

namespace headrace {

class PartCache {
 public:
  /// Makes the folder; a failure when nothing can be written there.
  static Result<std::unique_ptr<PartCache>> open(const std::string& folder, std::int64_t limit_bytes);

  /// Fills `bytes` with the entry `name` of just this size; false when there is none, or a damaged one, which is removed.
  bool read(const std::string& name, std::span<std::uint8_t> bytes) const;
  /// Keeps an entry. After a failure nothing is kept any more, and no later call fails.
  Status write(const std::string& name, std::span<const std::uint8_t> bytes) HEADRACE_EXCLUDES(mutex_);

 private:
  PartCache(std::string folder, std::int64_t limit) : folder_(std::move(folder)), limit_(limit) {}
  static Status write_file(const std::string& path, std::span<const std::uint8_t> bytes);
  /// Removes the oldest entries until there is room for `bytes`.
  Status trim(std::int64_t bytes) HEADRACE_REQUIRES(mutex_);

  const std::string folder_;
  const std::int64_t limit_;
  Mutex mutex_;
  std::int64_t written_ HEADRACE_GUARDED_BY(mutex_) = 0;  // since the last trim()
  bool is_off_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace

// The indexes of the shards of a data set, for an option that needs them: found, else made when that takes little time.
//
// An index that is missing, damaged, or of another state of its file is made anew by walking over the headers of the shard,
// and put into the cache folder. Where that cannot be written it stays in the IndexMemory of the data set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/index.h"
#include "runtime/mutex.h"
#include "runtime/warnings.h"
#include "shard/file_list.h"

namespace headrace {

/// Indexes that could not be written to a file. Any thread.
class IndexMemory {
 public:
  std::optional<RecordIndex> find(const std::string& path) const HEADRACE_EXCLUDES(mutex_);
  void keep(const std::string& path, RecordIndex index) HEADRACE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<std::string, RecordIndex> indexes_ HEADRACE_GUARDED_BY(mutex_);
};

struct IndexWish {
  std::string needed_by;  ///< such as "shuffle(\"global\")", for the failure
  /// No index is made when all of them are estimated to take longer; nothing: as long as it takes. Only of files on file
  /// systems of this machine with a limit.
  std::optional<double> most_seconds = 10;
  /// The rate is what was walked in so much time: enough for some hundred reads of a slow disk, and little to have waited in
  /// vain.
  double measured_seconds = 0.2;
};

/// The index of shards `wanted` of `shards`, in that order. kInvalidArgument naming `headrace index` where making them would
/// take too long; the failure of a shard that cannot be read or has none (kDataLoss).
Result<std::vector<RecordIndex>> find_or_make_indexes(const ShardList& shards, std::span<const std::uint32_t> wanted,
                                                      const ReadOptions& options, const IndexWish& wish,
                                                      IndexMemory* memory, WarningLog* warnings);

/// How an index is named in a failure.
std::string index_name(const RecordIndex& index);

}  // namespace headrace

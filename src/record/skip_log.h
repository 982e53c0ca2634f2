// SkipLog: what the skip policies of one pipeline left out: counts of distinct (file, offset), the first regions as they are.
// Any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/skipped.h"
#include "record/block.h"
#include "runtime/mutex.h"

namespace headrace {

/// The region of one record that is left out for `reason`, which says where it is.
SkippedRegion whole_record(const Status& reason, const RecordRun& run, std::uint32_t index_in_run);

class SkipLog {
 public:
  /// Regions that are kept whole.
  static constexpr std::size_t kKept = 1000;

  explicit SkipLog(std::int64_t max_skipped) : max_skipped_(max_skipped) {}
  /// Counts the region once, over all epochs; a failure (its reason, plus the limit in the text) when there are too many.
  Status add(const SkippedRegion& region) HEADRACE_EXCLUDES(mutex_);
  std::int64_t count() const HEADRACE_EXCLUDES(mutex_);
  /// Of these, records that do not fit the schema.
  std::int64_t misfits() const HEADRACE_EXCLUDES(mutex_);
  /// The first ones, in the order in which they were met.
  std::vector<SkippedRegion> first() const HEADRACE_EXCLUDES(mutex_);

 private:
  const std::int64_t max_skipped_;
  mutable Mutex mutex_;
  std::set<std::pair<std::string, std::int64_t>> seen_ HEADRACE_GUARDED_BY(mutex_);
  std::int64_t misfits_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::vector<SkippedRegion> first_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

#include "record/skip_log.h"

#include "record/framing.h"

namespace headrace {

SkippedRegion whole_record(const Status& reason, const RecordRun& run, std::uint32_t index_in_run) {
  const std::uint64_t bytes = kFrameBytes + run.block->records[run.first + index_in_run].length;
  return {reason, reason.where().offset + static_cast<std::int64_t>(bytes), 1};
}

Status SkipLog::add(const SkippedRegion& region) {
  const Status& reason = region.reason;
  MutexLock lock(mutex_);
  if (!seen_.emplace(reason.where().path, reason.where().offset).second) return {};
  if (reason.code() == StatusCode::kSchemaMismatch) ++misfits_;
  if (first_.size() < kKept) first_.push_back(region);
  if (static_cast<std::int64_t>(seen_.size()) <= max_skipped_) return {};
  return {reason.code(),
          reason.message() + "; more records were skipped than max_skipped = " + std::to_string(max_skipped_),
          reason.where()};
}

std::int64_t SkipLog::count() const {
  MutexLock lock(mutex_);
  return static_cast<std::int64_t>(seen_.size());
}

std::int64_t SkipLog::misfits() const {
  MutexLock lock(mutex_);
  return misfits_;
}

std::vector<SkippedRegion> SkipLog::first() const {
  MutexLock lock(mutex_);
  return first_;
}

}  // namespace headrace

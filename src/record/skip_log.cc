#include "record/source.h"

namespace headrace {
namespace {

constexpr std::size_t kKeptTexts = 20;

}  // namespace

Status SkipLog::add(const Status& damage) {
  MutexLock lock(mutex_);
  if (!seen_.emplace(damage.where().path, damage.where().offset).second) return {};
  if (first_.size() < kKeptTexts) first_.push_back(damage.to_string());
  if (static_cast<std::int64_t>(seen_.size()) <= max_skipped_) return {};
  return {damage.code(), damage.message() + "; more damaged records than max_skipped = " + std::to_string(max_skipped_),
          damage.where()};
}

std::int64_t SkipLog::count() const {
  MutexLock lock(mutex_);
  return static_cast<std::int64_t>(seen_.size());
}

std::vector<std::string> SkipLog::first() const {
  MutexLock lock(mutex_);
  return first_;
}

}  // namespace headrace

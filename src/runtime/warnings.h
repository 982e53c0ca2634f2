// WarningLog: warnings of one pipeline, once per cause. Any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/mutex.h"

namespace headrace {

class WarningLog {
 public:
  /// Keeps `text` unless one with the same `cause` is there already.
  void add(const std::string& cause, std::string text) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (causes_.insert(cause).second) texts_.push_back(std::move(text));
  }
  std::vector<std::string> texts() const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return texts_;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> causes_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::string> texts_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

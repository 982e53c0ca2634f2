// TraceRing: the last spans of a pipeline (a batch cut, parsed, delivered). One short lock per span, a few spans per batch.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/mutex.h"

namespace headrace {

struct TraceSpan {
  const char* name;       ///< static text
  std::int64_t batch;     ///< batch number
  std::int64_t thread;    ///< system thread id
  std::int64_t begin_ns;  ///< clock.h
  std::int64_t end_ns;
};

class TraceRing {
 public:
  static constexpr std::size_t kCapacity = 4096;

  void add(const TraceSpan& span) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (spans_.size() < kCapacity) {
      spans_.push_back(span);
    } else {
      spans_[next_ % kCapacity] = span;
    }
    ++next_;
  }
  /// Oldest first.
  std::vector<TraceSpan> spans() const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (spans_.size() < kCapacity) return spans_;
    std::vector<TraceSpan> ordered;
    ordered.reserve(kCapacity);
    for (std::size_t i = 0; i < kCapacity; ++i) ordered.push_back(spans_[(next_ + i) % kCapacity]);
    return ordered;
  }

 private:
  mutable Mutex mutex_;
  std::vector<TraceSpan> spans_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace

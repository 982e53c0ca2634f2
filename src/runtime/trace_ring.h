// TraceRing: the last spans of a pipeline (a batch cut, parsed, delivered). One short lock per span, a few spans per batch.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/mutex.h"
#include "runtime/trace_log.h"

namespace headrace {

class TraceRing {
 public:
  static constexpr std::size_t kCapacity = 4096;

  void add(TraceSpan span) HEADRACE_EXCLUDES(mutex_) {
    span.stream = stream_;
    trace_span(span);
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
  static std::int64_t next_stream() {
    static std::atomic<std::int64_t> made{0};
    return ++made;
  }

  const std::int64_t stream_ = next_stream();
  mutable Mutex mutex_;
  std::vector<TraceSpan> spans_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace

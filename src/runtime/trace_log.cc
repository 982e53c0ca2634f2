#include "runtime/trace_log.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "runtime/mutex.h"

namespace headrace {
namespace {

thread_local bool is_ahead = false;

class TraceLog {
 public:
  bool start() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (internal::tracing.exchange(true)) return false;
    spans_.clear();
    next_ = 0;
    return true;
  }

  void add(const TraceSpan& span) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!internal::tracing.load(std::memory_order_relaxed)) return;
    if (spans_.size() < kMostSpans) {
      spans_.push_back(span);
    } else {
      spans_[next_ % kMostSpans] = span;
    }
    ++next_;
  }

  std::vector<TraceSpan> stop() HEADRACE_EXCLUDES(mutex_) {
    std::vector<TraceSpan> spans;
    {
      MutexLock lock(mutex_);
      internal::tracing = false;
      spans.swap(spans_);
    }
    std::sort(spans.begin(), spans.end(),
              [](const TraceSpan& a, const TraceSpan& b) { return a.begin_ns < b.begin_ns; });
    return spans;
  }

  const char* intern(const std::string& text) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return texts_.insert(text).first->c_str();
  }

 private:
  Mutex mutex_;
  std::vector<TraceSpan> spans_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::set<std::string> texts_ HEADRACE_GUARDED_BY(mutex_);
};

// Never destroyed: threads may still run while the process ends. A child gets a new one, for a thread of the parent's may hold
// the lock of this one.
TraceLog*& the_log() {
  static TraceLog* log = [] {
    ::pthread_atfork(nullptr, nullptr, [] {
      internal::tracing = false;
      the_log() = new TraceLog();  // NOLINT(cppcoreguidelines-owning-memory)
    });
    return new TraceLog();  // NOLINT(cppcoreguidelines-owning-memory)
  }();
  return log;
}

}  // namespace

namespace internal {
std::atomic<bool> tracing{false};
void log_span(const TraceSpan& span) { the_log()->add(span); }
}  // namespace internal

bool start_tracing() { return the_log()->start(); }

std::vector<TraceSpan> stop_tracing() { return the_log()->stop(); }

const char* interned(const std::string& text) { return the_log()->intern(text); }

void work_ahead() { is_ahead = true; }

bool works_ahead() { return is_ahead; }

std::int64_t system_thread() {
  thread_local const auto id = static_cast<std::int64_t>(::syscall(SYS_gettid));
  return id;
}

}  // namespace headrace

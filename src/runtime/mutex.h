// Mutex, MutexLock and CondVar: the standard ones, annotated for clang's thread-safety analysis.
//
// Every wait takes a stop token. The predicate of a wait changes only under the mutex that the wait holds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define HEADRACE_ATTRIBUTE(x) __attribute__((x))
#else
#define HEADRACE_ATTRIBUTE(x)
#endif
#define HEADRACE_GUARDED_BY(mutex) HEADRACE_ATTRIBUTE(guarded_by(mutex))
#define HEADRACE_REQUIRES(mutex) HEADRACE_ATTRIBUTE(requires_capability(mutex))
#define HEADRACE_EXCLUDES(mutex) HEADRACE_ATTRIBUTE(locks_excluded(mutex))

namespace headrace {

class HEADRACE_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() HEADRACE_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() HEADRACE_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() HEADRACE_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

class HEADRACE_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEADRACE_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HEADRACE_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  /// Waits until `predicate()` (called with `mutex` held) or a stop request; returns the predicate's last value.
  template <class Predicate>
  bool wait(Mutex& mutex, const std::stop_token& stop, Predicate predicate) HEADRACE_REQUIRES(mutex) {
    return condition_.wait(mutex, stop, std::move(predicate));
  }
  /// The same, for at most `timeout`.
  template <class Rep, class Period, class Predicate>
  bool wait_for(Mutex& mutex, const std::stop_token& stop, std::chrono::duration<Rep, Period> timeout,
                Predicate predicate) HEADRACE_REQUIRES(mutex) {
    return condition_.wait_for(mutex, stop, timeout, std::move(predicate));
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace headrace

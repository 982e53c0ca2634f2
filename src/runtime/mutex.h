// Mutex, MutexLock and CondVar: the standard ones, annotated for clang's thread-safety analysis.
//
// Every wait takes a stop token. The predicate of a wait changes only under the mutex that the wait holds; notify after
// unlocking it, or the woken thread runs into the lock. Nobody asks for a stop with a mutex held that a wait uses.
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
  friend class CondVar;
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

/// Unlike std::condition_variable_any, which knows stop tokens too, it has no mutex of its own for the woken thread to wait for.
class CondVar {
 public:
  /// Waits until `predicate()` (called with `mutex` held) or a stop request; returns the predicate's last value.
  template <class Predicate>
  bool wait(Mutex& mutex, const std::stop_token& stop, Predicate predicate) HEADRACE_REQUIRES(mutex) {
    const auto once = [this](std::unique_lock<std::mutex>& lock) {
      condition_.wait(lock);
      return true;
    };
    return wait_while(mutex, stop, predicate, once);
  }
  /// The same, for at most `timeout`.
  template <class Rep, class Period, class Predicate>
  bool wait_for(Mutex& mutex, const std::stop_token& stop, std::chrono::duration<Rep, Period> timeout,
                Predicate predicate) HEADRACE_REQUIRES(mutex) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    const auto once = [this, end](std::unique_lock<std::mutex>& lock) {
      return condition_.wait_until(lock, end) == std::cv_status::no_timeout;
    };
    return wait_while(mutex, stop, predicate, once);
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  // `once` waits for a notification; false when the time is over. The callback takes the mutex, so that it comes before a
  // look at the token or after the start of the wait; it is made and ended without the mutex, since it may run in between.
  template <class Predicate, class Once>
  bool wait_while(Mutex& mutex, const std::stop_token& stop, Predicate& predicate, const Once& once)
      HEADRACE_ATTRIBUTE(no_thread_safety_analysis) {
    for (bool in_time = true; !predicate(); mutex.lock()) {
      if (!in_time || stop.stop_requested()) return false;
      mutex.unlock();
      const std::stop_callback wake(stop, [this, &mutex] {
        mutex.lock();
        mutex.unlock();
        condition_.notify_all();
      });
      std::unique_lock lock(mutex.mutex_);
      while (in_time && !stop.stop_requested() && !predicate()) in_time = once(lock);
    }
    return true;
  }

  std::condition_variable condition_;
};

}  // namespace headrace

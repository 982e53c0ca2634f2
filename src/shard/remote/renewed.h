// Renewed<T>: credentials that are asked for again some minutes before they expire. Any thread; while one thread asks, the others
// go on with what is still good, or wait.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "headrace/status.h"
#include "runtime/mutex.h"

namespace headrace {

template <class T>
struct Expiring {
  T value;
  std::optional<std::chrono::system_clock::time_point> expires;  ///< nothing: never
};

template <class T>
class Renewed {
 public:
  using Clock = std::chrono::system_clock;
  using Ask = std::function<Result<Expiring<T>>()>;

  explicit Renewed(Ask ask) : ask_(std::move(ask)) {}

  Result<T> get(const std::stop_token& stop) HEADRACE_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      const bool is_there = changed_.wait(
          mutex_, stop, [this]() HEADRACE_REQUIRES(mutex_) { return !is_asking_ || lasts(std::chrono::seconds(0)); });
      if (!is_there) return cancelled("stopped while waiting for credentials");
      if (lasts(kAhead) || (is_asking_ && lasts(std::chrono::seconds(0)))) return current_->value;
      is_asking_ = true;
    }
    Result<Expiring<T>> fresh = ask_();
    Result<T> result = fresh.status().ok() ? Result<T>(fresh->value) : Result<T>(fresh.status());
    {
      MutexLock lock(mutex_);
      is_asking_ = false;
      if (fresh.ok()) {
        current_ = std::move(*fresh);
        asked_ = Clock::now();
      } else if (lasts(std::chrono::seconds(0))) {
        result = current_->value;  // there are some minutes left to try again
      }
    }
    changed_.notify_all();
    return result;
  }

  /// The server takes them no more: the next get() asks again. False when that is of no use: they are brand-new, or lasting.
  bool refused() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!current_ || !current_->expires || Clock::now() - asked_ < kBrandNew) return false;
    current_.reset();
    return true;
  }

 private:
  static constexpr std::chrono::minutes kAhead{5};
  static constexpr std::chrono::seconds kBrandNew{2};

  bool lasts(std::chrono::seconds ahead) const HEADRACE_REQUIRES(mutex_) {
    return current_ && (!current_->expires || Clock::now() + ahead < *current_->expires);
  }

  const Ask ask_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool is_asking_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::optional<Expiring<T>> current_ HEADRACE_GUARDED_BY(mutex_);
  Clock::time_point asked_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

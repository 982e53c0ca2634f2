#include "device/device_feed.h"

#include <algorithm>
#include <utility>

#include "headrace/no_memory.h"
#include "runtime/clock.h"
#include "runtime/stall.h"
#include "runtime/trace_log.h"

namespace headrace {
namespace {

constexpr std::size_t kMostCopies = 2;
constexpr std::chrono::milliseconds kWaitSlice{1000};

}  // namespace

DeviceFeed::DeviceFeed(const std::string& name, std::unique_ptr<SliceCopier> copier, int depth,
                       std::int64_t first_number, Take take, std::stop_token stop)
    : depth_(depth),
      take_(std::move(take)),
      stop_(std::move(stop)),
      copier_(std::move(copier)),
      next_number_(first_number),
      thread_("headrace " + name, [this] { run(); }) {}

void DeviceFeed::join() {
  thread_.join();
  copier_.reset();
  MutexLock lock(mutex_);
  ready_.clear();
}

void DeviceFeed::run() {
  const Status done = or_no_memory([this]() -> Status {
    while (!stop_.stop_requested() && step()) {
    }
    static_cast<void>(finish_all());
    return {};
  });
  if (!done.ok()) end(State::kFailed, done);
}

bool DeviceFeed::step() {
  random_stall();
  if (copying_.empty()) return wait_for_room() && start_one(kWaitSlice);
  bool may_start = copying_.size() < kMostCopies;
  if (may_start) {
    MutexLock lock(mutex_);
    may_start = has_room();
  }
  // A slice that is there already follows the copy that is under way; nobody waits for one that is not.
  const std::size_t before = copying_.size();
  if (may_start && !start_one(std::chrono::milliseconds(0))) return false;
  return copying_.size() > before || finish_one();
}

bool DeviceFeed::has_room() const { return static_cast<int>(ready_.size() + copying_.size()) <= depth_; }

bool DeviceFeed::wait_for_room() {
  MutexLock lock(mutex_);
  return changed_.wait(mutex_, stop_, [this]() HEADRACE_REQUIRES(mutex_) { return has_room(); }) &&
         !stop_.stop_requested();
}

bool DeviceFeed::start_one(std::chrono::milliseconds timeout) {
  Result<std::optional<Slice>> taken = std::optional<Slice>();
  if (take_(timeout, &taken) == Wait::kTimeout) return true;
  if (!taken.ok() || !*taken) {
    if (finish_all()) end(taken.ok() ? State::kEnded : State::kFailed, taken.status());
    return false;
  }
  Result<Slice> started = copier_->start(std::move(**taken));
  if (started.ok()) {
    copying_.push_back(std::move(*started));
    started_ns_.push_back(now_ns());
    return true;
  }
  if (finish_all()) fail(started.status());
  return false;
}

bool DeviceFeed::finish_all() {
  while (!copying_.empty()) {
    if (!finish_one()) return false;
  }
  return true;
}

bool DeviceFeed::finish_one() {
  const Status arrived = copier_->finish();
  Slice slice = std::move(copying_.front());
  copying_.pop_front();
  // The copies of a device come one after the other, whenever they were asked for.
  const std::int64_t end_ns = now_ns();
  trace_span({kCopySpan, slice.batch_number, system_thread(), std::max(started_ns_.front(), finished_ns_), end_ns});
  started_ns_.pop_front();
  finished_ns_ = end_ns;
  if (!arrived.ok()) {
    fail(arrived);
    return false;
  }
  {
    MutexLock lock(mutex_);
    ready_.push_back(std::move(slice));
  }
  changed_.notify_all();
  return true;
}

void DeviceFeed::end(State state, Status failure) {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kOpen) return;
    state_ = state;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
}

void DeviceFeed::fail(Status failure) {
  end(State::kFailed, std::move(failure));
  for (; !copying_.empty(); copying_.pop_front()) static_cast<void>(copier_->finish());
  while (!stop_.stop_requested()) {
    Result<std::optional<Slice>> taken = std::optional<Slice>();
    if (take_(kWaitSlice, &taken) == Wait::kReady && !(taken.ok() && *taken)) return;
  }
}

Wait DeviceFeed::next_for(std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
  random_stall();
  bool is_taken = false;
  {
    MutexLock lock(mutex_);
    const bool found = changed_.wait_for(mutex_, stop_, timeout, [this]() HEADRACE_REQUIRES(mutex_) {
      return !ready_.empty() || state_ != State::kOpen;
    });
    if (!found && !stop_.stop_requested()) return Wait::kTimeout;
    is_taken = !ready_.empty() && !stop_.stop_requested();
    if (is_taken) {
      next_number_ = ready_.front().batch_number + 1;
      *slice = std::optional<Slice>(std::move(ready_.front()));
      ready_.pop_front();
    } else if (state_ == State::kFailed) {
      *slice = failure_;
    } else if (state_ == State::kEnded && ready_.empty()) {
      *slice = std::optional<Slice>();
    } else {
      *slice = cancelled("the pipeline was closed");
    }
  }
  if (is_taken) changed_.notify_all();
  return Wait::kReady;
}

std::int64_t DeviceFeed::next_number() const {
  MutexLock lock(mutex_);
  return next_number_;
}

}  // namespace headrace

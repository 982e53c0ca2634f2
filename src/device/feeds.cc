#include "device/feeds.h"

#include <algorithm>
#include <utility>

#include "runtime/clock.h"
#include "runtime/stall.h"

namespace headrace {

Feeds::Feeds(int replicas, int max_lead, double stall_seconds, Fetch fetch, WarningLog* warnings, StatusPage* page,
             std::stop_token stop)
    : max_lead_(max_lead),
      stall_seconds_(stall_seconds),
      fetch_(std::move(fetch)),
      warnings_(warnings),
      stop_(std::move(stop)),
      queues_(static_cast<std::size_t>(replicas)),
      waiting_since_ns_(static_cast<std::size_t>(replicas), 0) {
  for (int r = 0; page != nullptr && r < replicas; ++r) waits_.emplace_back(page, r);
}

Wait Feeds::next_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
  if (waits_.empty()) return take_for(replica, timeout, slice);
  WaitMeter& wait = waits_[static_cast<std::size_t>(replica)];
  wait.begin();
  const Wait outcome = take_for(replica, timeout, slice);
  if (outcome == Wait::kReady) wait.end(slice->ok() && (*slice)->has_value());
  return outcome;
}

Wait Feeds::take_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  random_stall();
  MutexLock lock(mutex_);
  auto& queue = queues_[static_cast<std::size_t>(replica)];
  std::int64_t& waiting_since_ns = waiting_since_ns_[static_cast<std::size_t>(replica)];
  for (;;) {
    if (!queue.empty()) {
      waiting_since_ns = 0;
      *slice = std::optional<Slice>(std::move(queue.front()));
      queue.pop_front();
      changed_.notify_all();  // a leader may go on
      return Wait::kReady;
    }
    if (state_ == State::kEnded) {
      *slice = std::optional<Slice>();
      return Wait::kReady;
    }
    if (state_ == State::kFailed) {
      *slice = failure_;
      return Wait::kReady;
    }
    if (stop_.stop_requested()) {
      *slice = cancelled("the pipeline was closed");
      return Wait::kReady;
    }
    const auto left =
        std::max(std::chrono::milliseconds(0),
                 std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()));
    if (!fetching_ && may_fetch()) {
      fetching_ = true;
      mutex_.unlock();
      Result<std::optional<Batch>> fetched = std::optional<Batch>();
      const Wait outcome = fetch_(left, &fetched);
      mutex_.lock();
      fetching_ = false;
      if (outcome == Wait::kReady) distribute(std::move(fetched));
      changed_.notify_all();
      if (outcome == Wait::kTimeout) return Wait::kTimeout;
      continue;
    }
    // Who only looks does not wait, nor is another replica to blame while a batch is fetched.
    const bool is_held_up = timeout > std::chrono::milliseconds(0) && !may_fetch();
    if (!is_held_up) {
      waiting_since_ns = 0;
    } else if (waiting_since_ns == 0) {
      waiting_since_ns = now_ns();
    }
    if (is_held_up && static_cast<double>(now_ns() - waiting_since_ns) > stall_seconds_ * 1e9) warn_lagging(replica);
    const bool woken = changed_.wait_for(mutex_, stop_, left, [this, &queue]() HEADRACE_REQUIRES(mutex_) {
      return !queue.empty() || state_ != State::kOpen || (!fetching_ && may_fetch());
    });
    if (!woken && !stop_.stop_requested()) return Wait::kTimeout;
  }
}

void Feeds::distribute(Result<std::optional<Batch>> fetched) {
  if (!fetched.ok()) {
    state_ = State::kFailed;
    failure_ = fetched.status();
  } else if (!*fetched) {
    state_ = State::kEnded;
  } else {
    for (std::size_t r = 0; r < queues_.size(); ++r) {
      Slice& slice = (*fetched)->replicas[r];
      slice.batch_number = (*fetched)->number;
      slice.epoch = (*fetched)->epoch;
      queues_[r].push_back(std::move(slice));
    }
  }
}

bool Feeds::may_fetch() const {
  return std::none_of(queues_.begin(), queues_.end(),
                      [this](const auto& queue) { return static_cast<int>(queue.size()) >= max_lead_; });
}

void Feeds::warn_lagging(int leader) {
  const auto longest = std::max_element(queues_.begin(), queues_.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  warnings_->add("lagging replica", "replica " + std::to_string(leader) + " waits: replica " +
                                        std::to_string(longest - queues_.begin()) + " has not taken its last " +
                                        std::to_string(longest->size()) + " batches");
}

int Feeds::backlog() const {
  MutexLock lock(mutex_);
  std::size_t longest = 0;
  for (const auto& queue : queues_) longest = std::max(longest, queue.size());
  return static_cast<int>(longest);
}

}  // namespace headrace

// Feeds: one global stream of batches, taken apart for consumers that each read one replica.
//
// The consumer that needs the next batch fetches it for all; the slices of the others wait in their queues. A replica may
// lead the slowest one by `max_lead` batches, then it waits; one warning names the replica that does not read. One caller per
// replica at a time, different replicas concurrently. Ends and failures reach every replica behind its last slice.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "headrace/batch.h"
#include "headrace/pipeline.h"
#include "headrace/status.h"
#include "runtime/mutex.h"
#include "runtime/status_page.h"
#include "runtime/warnings.h"

namespace headrace {

class Feeds {
 public:
  using Fetch = std::function<Wait(std::chrono::milliseconds, Result<std::optional<Batch>>*)>;

  /// `page` shows what each replica waits; null when the callers are not the consumers.
  Feeds(int replicas, int max_lead, double stall_seconds, Fetch fetch, WarningLog* warnings, StatusPage* page,
        std::stop_token stop);

  /// The next slice of `replica`, as Pipeline::next_slice_for.
  Wait next_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice);

  /// Batches that were fetched but not yet taken by every replica.
  int backlog() const HEADRACE_EXCLUDES(mutex_);

 private:
  enum class State { kOpen, kEnded, kFailed };

  Wait take_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice)
      HEADRACE_EXCLUDES(mutex_);
  void distribute(Result<std::optional<Batch>> fetched) HEADRACE_REQUIRES(mutex_);
  bool may_fetch() const HEADRACE_REQUIRES(mutex_);
  void warn_lagging(int leader) HEADRACE_REQUIRES(mutex_);

  const int max_lead_;
  const double stall_seconds_;
  const Fetch fetch_;
  WarningLog* const warnings_;
  const std::stop_token stop_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::deque<Slice>> queues_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<WaitMeter> waits_;                                            // one caller for each; none without a page
  std::vector<std::int64_t> waiting_since_ns_ HEADRACE_GUARDED_BY(mutex_);  // 0 = not waiting
  State state_ HEADRACE_GUARDED_BY(mutex_) = State::kOpen;
  Status failure_ HEADRACE_GUARDED_BY(mutex_);
  bool fetching_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace

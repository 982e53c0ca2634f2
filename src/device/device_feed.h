// DeviceFeed: keeps `depth` batches resident on one device ahead of its consumer, and one more that may still be on its way.
//
//   feed thread:  wait for room -> take the next slice of this replica -> start its copy -> ... -> the copy is over: ready
//   consumer:     wait until a slice is ready -> take it -> room for one more
//
// Two copies are under way at most, so that the copy engine never waits for this thread. Slices that are ready or under way are
// depth + 1 at most; the consumer's do not count, so one that keeps batches cannot block itself. What is handed out is complete:
// the host has seen the end of its copy.
// A device that fails ends its own feed, behind what was ready; the thread then drops the slices of its replica, so that the
// other replicas get theirs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "device/slice_copier.h"
#include "headrace/pipeline.h"
#include "runtime/mutex.h"
#include "runtime/thread.h"

namespace headrace {

class DeviceFeed {
 public:
  /// Waits for the next slice of the replica, as Feeds::next_for.
  using Take = std::function<Wait(std::chrono::milliseconds, Result<std::optional<Slice>>*)>;

  /// Starts the thread, which ends some time after a stop request, the end or a failure. `first_number` is that of the first batch.
  DeviceFeed(const std::string& name, std::unique_ptr<SliceCopier> copier, int depth, std::int64_t first_number,
             Take take, std::stop_token stop);
  /// Behind a stop request: joins, when what is under way is over, and lets go of the device.
  void join();

  /// The next slice, as Pipeline::next_slice_for. One caller at a time.
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) HEADRACE_EXCLUDES(mutex_);
  /// Number of the batch of the next slice.
  std::int64_t next_number() const HEADRACE_EXCLUDES(mutex_);

 private:
  enum class State { kOpen, kEnded, kFailed };

  void run();
  /// Starts one copy or ends one; false when nothing more will come.
  bool step();
  bool start_one(std::chrono::milliseconds timeout);
  bool wait_for_room() HEADRACE_EXCLUDES(mutex_);
  bool has_room() const HEADRACE_REQUIRES(mutex_);
  /// Waits for the end of the oldest copy; false when the device failed.
  bool finish_one() HEADRACE_EXCLUDES(mutex_);
  bool finish_all();
  void end(State state, Status failure) HEADRACE_EXCLUDES(mutex_);
  /// Ends the feed by a failure of the device, then takes and drops what comes for it.
  void fail(Status failure);

  const int depth_;
  const Take take_;
  const std::stop_token stop_;

  // The feed thread's.
  std::unique_ptr<SliceCopier> copier_;
  std::deque<std::int64_t> started_ns_;  // of those that are copied
  std::int64_t finished_ns_ = 0;         // the last one
  std::deque<Slice> copying_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Slice> ready_ HEADRACE_GUARDED_BY(mutex_);
  State state_ HEADRACE_GUARDED_BY(mutex_) = State::kOpen;
  Status failure_ HEADRACE_GUARDED_BY(mutex_);
  std::int64_t next_number_ HEADRACE_GUARDED_BY(mutex_);

  Thread thread_;
};

}  // namespace headrace

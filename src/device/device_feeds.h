// DeviceFeeds: the feeds of all devices of a pipeline, behind the queues (Feeds) that share out its batches.
//
// A feed may be ahead of the slowest one by what fits its device, so a consumer leads by depth + 2 batches at most when the
// queues hold one. Nothing is taken from the queues before the first next().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "device/device_feed.h"
#include "device/feeds.h"
#include "headrace/pipeline.h"
#include "runtime/mutex.h"
#include "runtime/status_page.h"

namespace headrace {

/// A device of a pipeline. The same device may stand at several places.
struct DeviceTarget {
  std::string name;
  std::unique_ptr<SliceCopier> copier;
};

class DeviceFeeds {
 public:
  /// `queues` outlives it, and so does `page`, which shows what each replica waits; it may be null.
  DeviceFeeds(std::vector<DeviceTarget> targets, int depth, std::int64_t first_number, Feeds* queues, StatusPage* page,
              std::stop_token stop);
  /// The owner has called close().
  ~DeviceFeeds();
  DeviceFeeds(const DeviceFeeds&) = delete;
  DeviceFeeds& operator=(const DeviceFeeds&) = delete;

  /// As Pipeline::next_for: a batch once every device has its slice; the first failure of any device ends it.
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);
  /// As Pipeline::next_slice_for: a device that fails ends only its own replica.
  Wait next_slice_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice);

  /// Number of the first batch that some replica has not taken yet.
  std::int64_t next_number() const HEADRACE_EXCLUDES(mutex_);
  /// Behind a stop request: joins the threads. Idempotent.
  void close() HEADRACE_EXCLUDES(mutex_);

 private:
  /// False behind close().
  bool start() HEADRACE_EXCLUDES(mutex_);

  const int depth_;
  const std::int64_t first_number_;
  Feeds* const queues_;
  const std::stop_token stop_;
  std::vector<WaitMeter> waits_;                // one caller of next_slice_for() each; none without a page
  std::vector<std::optional<Slice>> gathered_;  // of the next batch; next_for()'s alone

  mutable Mutex mutex_;
  std::vector<DeviceTarget> targets_ HEADRACE_GUARDED_BY(mutex_);  // until start()
  // Constant behind start(), which every caller of next has called.
  std::vector<std::unique_ptr<DeviceFeed>> feeds_;
};

}  // namespace headrace

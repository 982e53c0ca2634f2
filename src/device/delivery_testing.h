// DeliveryWorld: a stream of batches, shared out and fed to devices as a pipeline does it, with the fake driver under the CUDA ones.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "device/device_feeds.h"
#include "device/device_testing.h"
#include "device/open_devices.h"
#include "fake_cuda/launch.h"

namespace headrace::testing {

struct WorldOptions {
  int depth = 2;
  int batches = 20;
  Status last;  ///< behind the batches; ok: the end
  FakeCudaOptions cuda = {};
  double stall_seconds = 30;
};

constexpr std::int64_t kRows = 32;  // of every slice; that of replica r in batch k is number_slice(4 k + r)

class DeliveryWorld {
 public:
  DeliveryWorld(const std::vector<std::string>& names, const WorldOptions& options)
      : cuda(options.cuda), options_(options) {
    std::vector<Device> devices;
    for (const std::string& name : names) devices.push_back(*parse_device(name));
    Result<OpenDevices> opened = open_devices(devices, FakeCuda::path(), &warnings);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    if (opened->staging) pool_ = std::make_unique<BufferPool>(std::move(opened->staging));
    // A pipeline that has host devices alone needs no feeds; here they show that both kinds do the same.
    if (opened->targets.empty()) {
      for (const std::string& name : names) opened->targets.push_back({name, make_host_copier()});
    }
    queues_ = std::make_unique<Feeds>(
        static_cast<int>(names.size()), 1, options.stall_seconds,
        [this, replicas = names.size()](std::chrono::milliseconds, Result<std::optional<Batch>>* out) {
          return fetch(replicas, out);
        },
        &warnings, nullptr, stop.get_token());
    feeds = std::make_unique<DeviceFeeds>(std::move(opened->targets), options.depth, 0, queues_.get(), nullptr,
                                          stop.get_token());
  }
  ~DeliveryWorld() { close(); }

  void close() {
    stop.request_stop();
    feeds->close();
  }
  /// Batch number of the next slice, its content checked; -1 = end, -2 = failure (in `status`), -3 = timeout.
  std::int64_t take(int replica, std::chrono::milliseconds timeout = std::chrono::milliseconds(5000)) {
    Result<std::optional<Slice>> slice = std::optional<Slice>();
    if (feeds->next_slice_for(replica, timeout, &slice) == Wait::kTimeout) return -3;
    if (!slice.ok()) {
      MutexLock lock(mutex_);
      status_ = slice.status();
      return -2;
    }
    if (!*slice) return -1;
    return check(**slice, replica) ? (*slice)->batch_number : -4;
  }
  bool check(const Slice& slice, int replica) const {
    Slice renumbered = slice;
    renumbered.batch_number = 4 * slice.batch_number + replica;
    return slice.rows == kRows && number_in(cuda, renumbered) == renumbered.batch_number;
  }
  Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }
  int fetched() const { return fetched_; }
  template <class Predicate>
  static bool soon(Predicate predicate) {
    for (int i = 0; i < 5000 && !predicate(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return predicate();
  }

  FakeCuda cuda;  // goes last, so it sees what the others leave behind
  WarningLog warnings;
  std::stop_source stop;

 private:
  Wait fetch(std::size_t replicas, Result<std::optional<Batch>>* out) {
    const int k = fetched_;
    if (k == options_.batches) {
      if (options_.last.ok()) {
        *out = std::optional<Batch>();
      } else {
        *out = options_.last;
      }
      return Wait::kReady;
    }
    Batch batch;
    batch.number = k;
    for (std::size_t r = 0; r < replicas; ++r) {
      batch.replicas.push_back(number_slice(*pool_, 4 * k + static_cast<std::int64_t>(r), kRows));
    }
    *out = std::optional<Batch>(std::move(batch));
    ++fetched_;
    return Wait::kReady;
  }

  const WorldOptions options_;
  std::unique_ptr<BufferPool> pool_ = std::make_unique<BufferPool>();
  std::unique_ptr<Feeds> queues_;
  std::atomic<int> fetched_{0};
  mutable Mutex mutex_;
  Status status_ HEADRACE_GUARDED_BY(mutex_);

 public:
  std::unique_ptr<DeviceFeeds> feeds;  // goes first
};

}  // namespace headrace::testing

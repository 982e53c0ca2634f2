// FedDevice: feeds on one device and batches that are there already, so that nothing but delivery is measured.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "device/cuda_context.h"
#include "device/device_feeds.h"
#include "device/feeds.h"
#include "runtime/warnings.h"
#include "tensor/buffer_pool.h"

namespace headrace::gpu_check {

/// Slices in pinned memory, each with one column of `bytes` of uint64 and one of 256 int64.
class HostSlices {
 public:
  HostSlices(const std::shared_ptr<const CudaContext>& context, int count, std::size_t bytes);

  /// The slice that stands at place `n` of an endless stream.
  const Slice& at(std::int64_t n) const { return slices_[static_cast<std::size_t>(n) % slices_.size()]; }
  /// What headrace_sum makes of its first column.
  std::uint64_t sum_at(std::int64_t n) const { return sums_[static_cast<std::size_t>(n) % sums_.size()]; }
  std::size_t bytes() const { return bytes_; }
  /// Why the memory is not pinned; empty when it is.
  std::string unpinned() const { return warnings_.texts().empty() ? std::string() : warnings_.texts()[0]; }

 private:
  const std::size_t bytes_;
  WarningLog warnings_;
  BufferPool pool_;
  std::vector<Slice> slices_;
  std::vector<std::uint64_t> sums_;
};

class FedDevice {
 public:
  /// Batch k has slice k * feeds + r for replica r. `slices` outlives it.
  static Result<std::unique_ptr<FedDevice>> open(const Device& device, const std::string& library, int feeds,
                                                 int batches, const HostSlices& slices);
  ~FedDevice();
  FedDevice(const FedDevice&) = delete;
  FedDevice& operator=(const FedDevice&) = delete;

  Result<std::optional<Batch>> next();

 private:
  FedDevice(int feeds, int batches, const HostSlices& slices);
  Wait fetch(Result<std::optional<Batch>>* out);

  const int replicas_;
  const int batches_;
  const HostSlices& slices_;
  std::atomic<int> fetched_{0};
  std::stop_source stop_;
  WarningLog warnings_;
  std::unique_ptr<Feeds> queues_;
  std::unique_ptr<DeviceFeeds> feeds_;
};

}  // namespace headrace::gpu_check

#include "gpu/fed_device.h"

#include <cstring>
#include <utility>

#include "base/random.h"
#include "device/open_devices.h"
#include "device/pinned_memory.h"

namespace headrace::gpu_check {
namespace {

constexpr int kDepth = 2;
constexpr std::int64_t kLabels = 256;

}  // namespace

HostSlices::HostSlices(const std::shared_ptr<const CudaContext>& context, int count, std::size_t bytes)
    : bytes_(bytes), pool_(std::make_shared<PinnedMemory>(context, &warnings_)) {
  const auto words = static_cast<std::int64_t>(bytes / 8);
  for (int s = 0; s < count; ++s) {
    Slice slice;
    slice.rows = kLabels;
    for (const std::int64_t elements : {words, kLabels}) {
      Column column{.name = slice.columns.empty() ? "image" : "label"};
      column.values = {DType::kUint64, {elements}, nullptr, pool_.acquire(static_cast<std::size_t>(8 * elements))};
      column.values.data = column.values.buffer->data();
      std::uint64_t sum = 0;
      for (std::int64_t i = 0; i < elements; ++i) {
        const std::uint64_t word = random_u64(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(i));
        std::memcpy(column.values.data + 8 * i, &word, sizeof(word));
        sum += word * (static_cast<std::uint64_t>(i) + 1);
      }
      if (slice.columns.empty()) sums_.push_back(sum);
      slice.columns.push_back(std::move(column));
    }
    slices_.push_back(std::move(slice));
  }
}

Result<std::unique_ptr<FedDevice>> FedDevice::open(const Device& device, const std::string& library, int feeds,
                                                   int batches, const HostSlices& slices) {
  std::unique_ptr<FedDevice> fed(new FedDevice(feeds, batches, slices));
  const std::vector<Device> devices(static_cast<std::size_t>(feeds), device);
  HEADRACE_ASSIGN_OR_RETURN(OpenDevices opened, open_devices(devices, library, &fed->warnings_));
  fed->feeds_ = std::make_unique<DeviceFeeds>(std::move(opened.targets), kDepth, 0, fed->queues_.get(), nullptr,
                                              fed->stop_.get_token());
  return fed;
}

FedDevice::FedDevice(int feeds, int batches, const HostSlices& slices)
    : replicas_(feeds), batches_(batches), slices_(slices) {
  queues_ = std::make_unique<Feeds>(
      feeds, 1, 30.0, [this](std::chrono::milliseconds, Result<std::optional<Batch>>* out) { return fetch(out); },
      &warnings_, nullptr, stop_.get_token());
}

FedDevice::~FedDevice() {
  stop_.request_stop();
  if (feeds_) feeds_->close();
}

Result<std::optional<Batch>> FedDevice::next() {
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  while (feeds_->next_for(std::chrono::milliseconds(1000), &batch) == Wait::kTimeout) {
  }
  return batch;
}

Wait FedDevice::fetch(Result<std::optional<Batch>>* out) {
  const int k = fetched_++;
  if (k >= batches_) {
    *out = std::optional<Batch>();
    return Wait::kReady;
  }
  Batch batch;
  batch.number = k;
  for (int r = 0; r < replicas_; ++r)
    batch.replicas.push_back(slices_.at(static_cast<std::int64_t>(k) * replicas_ + r));
  *out = std::optional<Batch>(std::move(batch));
  return Wait::kReady;
}

}  // namespace headrace::gpu_check

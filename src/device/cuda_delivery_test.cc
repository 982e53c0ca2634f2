// Delivery to CUDA devices: what only devices do, such as being slow, failing, and reading what was given back.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "device/delivery_testing.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;
using testing::DeliveryWorld;
using testing::FakeCuda;

const std::vector<std::string> kTwoGpus{"/GPU:0", "/GPU:1"};

// A consumer of one replica that works as frameworks do: it queues a kernel over the batch and drops it at once.
class KernelConsumer {
 public:
  KernelConsumer(const FakeCuda& cuda, int device, bool names_its_stream)
      : context_(testing::open_context(cuda, device)), names_its_stream_(names_its_stream) {
    EXPECT_EQ(context_->run(context_->api().stream_create, &stream_, kCuStreamNonBlocking), kCuSuccess);
    for (CuAddress& sum : sums_) {
      EXPECT_EQ(context_->run(context_->api().memory_allocate, &sum, std::size_t{8}, stream_), kCuSuccess);
    }
  }
  ~KernelConsumer() {
    for (const CuAddress sum : sums_) EXPECT_EQ(context_->run(context_->api().memory_free, sum, stream_), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().stream_destroy, stream_), kCuSuccess);
  }
  void use(Slice slice) {
    const Tensor& x = slice.columns[0].values;
    x.buffer->read_by(names_its_stream_ ? std::optional(reinterpret_cast<std::uintptr_t>(stream_)) : std::nullopt);
    testing::launch_sum(*context_, stream_, reinterpret_cast<CuAddress>(x.data), testing::kRows, sums_[used_++]);
  }
  void wait() { EXPECT_EQ(context_->run(context_->api().context_synchronize), kCuSuccess); }
  /// Whether the kernel of batch k saw the slice of `replica`.
  bool saw(const FakeCuda& cuda, std::int64_t k, int replica) const {
    std::uint64_t sum = 0;
    std::memcpy(&sum, cuda.read(reinterpret_cast<void*>(sums_[static_cast<std::size_t>(k)]), 8).data(), 8);
    std::uint64_t expected = 0;
    for (std::int64_t i = 0; i < testing::kRows; ++i) {
      expected += static_cast<std::uint64_t>((1000 * (4 * k + replica) + i) * (i + 1));
    }
    return sum == expected;
  }

 private:
  const std::shared_ptr<const CudaContext> context_;
  const bool names_its_stream_;
  CuStream stream_ = nullptr;
  std::array<CuAddress, 20> sums_{};
  std::size_t used_ = 0;
};

// Kernels read batches after their last reference has gone; no copy overtakes them, and the memory stays a ring.
void run_kernels(bool names_its_stream, bool knows_context_events) {
  DeliveryWorld world(kTwoGpus, {.cuda = {.latency_seconds = 1e-3, .knows_context_events = knows_context_events}});
  std::vector<std::unique_ptr<KernelConsumer>> consumers;
  for (int r = 0; r < 2; ++r) {
    consumers.push_back(std::make_unique<KernelConsumer>(world.cuda, r, names_its_stream));
  }
  const std::int64_t before = world.cuda.totals().allocations;
  for (int k = 0; k < 20; ++k) {
    Result<std::optional<Batch>> batch = std::optional<Batch>();
    ASSERT_EQ(world.feeds->next_for(milliseconds(5000), &batch), Wait::kReady);
    ASSERT_TRUE(batch.ok() && *batch) << batch.status().to_string();
    for (std::size_t r = 0; r < 2; ++r) consumers[r]->use(std::move((*batch)->replicas[r]));
  }
  for (int r = 0; r < 2; ++r) {
    consumers[static_cast<std::size_t>(r)]->wait();
    for (int k = 0; k < 20; ++k) EXPECT_TRUE(consumers[static_cast<std::size_t>(r)]->saw(world.cuda, k, r)) << k;
  }
  EXPECT_LE(world.cuda.totals().allocations - before, 2 * 4) << "depth + 2 on each device";
  EXPECT_EQ(world.cuda.totals().unpinned_copies, 0);
  world.close();
}

TEST(CudaDelivery, KernelsOfANamedStreamReadWhatWasGivenBack) { run_kernels(true, true); }
TEST(CudaDelivery, KernelsOfAnyStreamReadWhatWasGivenBack) { run_kernels(false, true); }
TEST(CudaDelivery, TheSameOnADriverWithoutEventsOfTheContext) { run_kernels(false, false); }

TEST(CudaDelivery, ALostDeviceEndsItsReplicaAlone) {
  DeliveryWorld world(kTwoGpus, {});
  world.cuda.fail(1, "copy", 5, kCuLaunchFailed, true);
  std::atomic<int> wrong{0};
  int taken = 0;
  {
    const Thread other("replica", [&] {
      for (int k = 0; k < 20; ++k) wrong += world.take(0) != k;
      wrong += world.take(0) != -1;
    });
    while (world.take(1) == taken) ++taken;
    EXPECT_EQ(world.take(1), -2);
    EXPECT_EQ(world.take(1), -2);
  }
  EXPECT_EQ(wrong, 0) << "the other replica gets all of its batches";
  EXPECT_LE(taken, 5);
  EXPECT_GE(taken, 4) << "the copy before it may be over before the host has seen that";
  EXPECT_EQ(world.status().code(), StatusCode::kDevice);
  // Which call meets it first is chance.
  EXPECT_TRUE(world.status().message().starts_with("/GPU:1: cu")) << world.status().message();
  EXPECT_TRUE(world.status().message().ends_with(": CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)"));
  EXPECT_EQ(world.feeds->next_number(), taken);
}

TEST(CudaDelivery, ALostDeviceEndsWholeBatches) {
  DeliveryWorld world(kTwoGpus, {});
  world.cuda.fail(1, "copy", 3, kCuLaunchFailed, true);
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  int whole = -1;
  do {
    ++whole;
    ASSERT_EQ(world.feeds->next_for(milliseconds(5000), &batch), Wait::kReady);
  } while (batch.ok() && *batch);
  EXPECT_LE(whole, 3);
  EXPECT_GE(whole, 2);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(world.feeds->next_for(milliseconds(5000), &batch), Wait::kReady);
    EXPECT_EQ(batch.status().code(), StatusCode::kDevice);
  }
}

TEST(CudaDelivery, ADeviceWithoutMemory) {
  DeliveryWorld world(kTwoGpus, {.cuda = {.memory_bytes = 2048}});
  std::vector<Slice> kept;
  Result<std::optional<Slice>> slice = std::optional<Slice>();
  for (;;) {
    ASSERT_EQ(world.feeds->next_slice_for(0, milliseconds(5000), &slice), Wait::kReady);
    if (!slice.ok() || !*slice) break;
    kept.push_back(std::move(**slice));
    EXPECT_EQ(world.take(1), static_cast<std::int64_t>(kept.size()) - 1);
  }
  EXPECT_EQ(slice.status().code(), StatusCode::kDevice);
  EXPECT_NE(slice.status().message().find("/GPU:0: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
      << slice.status().message();
  EXPECT_GE(kept.size(), 1U);
  for (auto k = static_cast<std::int64_t>(kept.size()); k < 20; ++k) EXPECT_EQ(world.take(1), k);
}

TEST(CudaDelivery, ASlowDeviceDoesNotHoldUpTheOtherWithinItsLead) {
  DeliveryWorld world(kTwoGpus, {.depth = 3, .cuda = {.held_device = 1}});
  for (int k = 0; k < 3; ++k) EXPECT_EQ(world.take(0), k);
  EXPECT_EQ(world.take(1, milliseconds(0)), -3) << "its first copy is under way";
  world.cuda.release();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(world.take(1), k);
  EXPECT_EQ(world.take(0), 3);
}

TEST(CudaDelivery, BackPressureBoundsTheMemoryOfADevice) {
  DeliveryWorld world({"/GPU:2"}, {.depth = 2});
  EXPECT_EQ(world.take(0), 0);
  EXPECT_TRUE(DeliveryWorld::soon([&] { return world.cuda.totals().copies == 4; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(world.cuda.totals().copies, 4) << "one was taken, depth + 1 are on the device";
  EXPECT_LE(world.cuda.totals().allocations, 4);
}

TEST(CudaDelivery, NoDriver) {
  WarningLog warnings;
  const std::vector<Device> devices{testing::gpu(0)};
  const auto opened = open_devices(devices, "libno_such_driver.so.1", &warnings);
  EXPECT_EQ(opened.status().code(), StatusCode::kDevice);
  EXPECT_NE(opened.status().message().find("no CUDA driver"), std::string::npos);
}

}  // namespace
}  // namespace headrace

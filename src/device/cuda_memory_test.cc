#include "device/cuda_memory.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "device/device_testing.h"
#include "fake_cuda/launch.h"

namespace headrace {
namespace {

using testing::FakeCuda;
using testing::open_context;

constexpr std::size_t kBytes = 5000;

// Memory of device 0 and a stream of its consumer, whose kernel reads a buffer and takes 2 ms for it.
class CudaMemoryTest : public ::testing::Test {
 protected:
  explicit CudaMemoryTest(FakeCudaOptions options = {.latency_seconds = 2e-3}) : cuda_(options) {}
  void SetUp() override {
    EXPECT_EQ(context_->run(context_->api().stream_create, &consumer_, kCuStreamNonBlocking), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().memory_allocate, &out_, std::size_t{8}, consumer_), kCuSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(context_->run(context_->api().memory_free, out_, consumer_), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().stream_destroy, consumer_), kCuSuccess);
  }

  /// Copies the staging area to the buffer, as a feed does.
  void fill(const BufferPtr& buffer) {
    EXPECT_TRUE(context_
                    ->call(context_->api().copy_to_device, reinterpret_cast<CuAddress>(buffer->data()),
                           static_cast<const void*>(staging_.data()), kBytes, memory_->stream())
                    .ok());
    CuEvent event = nullptr;
    EXPECT_EQ(context_->run(context_->api().event_create, &event, kCuEventDisableTiming), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().event_record, event, memory_->stream()), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().event_synchronize, event), kCuSuccess);
    EXPECT_EQ(context_->run(context_->api().event_destroy, event), kCuSuccess);
  }
  void launch_reader(const BufferPtr& buffer) {
    testing::launch_sum(*context_, consumer_, reinterpret_cast<CuAddress>(buffer->data()), kBytes / 8, out_);
  }
  std::optional<std::uintptr_t> consumer() const { return reinterpret_cast<std::uintptr_t>(consumer_); }

  FakeCuda cuda_;
  const std::shared_ptr<const CudaContext> context_ = open_context(cuda_);
  std::shared_ptr<CudaMemory> memory_ = *CudaMemory::open(context_);
  std::vector<std::uint8_t> staging_ = std::vector<std::uint8_t>(kBytes, 3);
  CuStream consumer_ = nullptr;
  CuAddress out_ = 0;
};

class OldCudaMemoryTest : public CudaMemoryTest {
 protected:
  OldCudaMemoryTest() : CudaMemoryTest({.latency_seconds = 2e-3, .knows_context_events = false}) {}
};

TEST_F(CudaMemoryTest, RecyclesWhatComesBack) {
  BufferPtr first = *memory_->acquire(kBytes);
  EXPECT_EQ(first->device()->name, "/GPU:0");
  EXPECT_EQ(first->size(), kBytes);
  EXPECT_GE(memory_->bytes_out(), static_cast<std::int64_t>(kBytes));
  const std::uint8_t* const address = first->data();
  const BufferPtr second = *memory_->acquire(kBytes);
  EXPECT_NE(second->data(), address);
  first.reset();
  EXPECT_EQ((*memory_->acquire(kBytes - 100))->data(), address);
  EXPECT_EQ(cuda_.totals().allocations, 3);  // with the result of the kernel
}

TEST_F(CudaMemoryTest, ACopyWaitsForTheKernelOfAKnownStream) {
  for (int i = 0; i < 4; ++i) {
    const BufferPtr buffer = *memory_->acquire(kBytes);
    fill(buffer);
    buffer->read_by(consumer());
    buffer->read_by(consumer());
    launch_reader(buffer);
  }
  EXPECT_EQ(cuda_.totals().allocations, 2);
  EXPECT_EQ(cuda_.totals().context_synchronisations, 0);
}

TEST_F(CudaMemoryTest, ACopyWaitsForTheKernelOfAnyStream) {
  for (int i = 0; i < 4; ++i) {
    const BufferPtr buffer = *memory_->acquire(kBytes);
    fill(buffer);
    buffer->read_by(i % 2 == 0 ? std::optional<std::uintptr_t>() : kCuStreamPerThread);
    launch_reader(buffer);
  }
  EXPECT_EQ(cuda_.totals().context_synchronisations, 0);
}

TEST_F(OldCudaMemoryTest, WithoutEventsOfTheContextTheHostWaits) {
  for (int i = 0; i < 4; ++i) {
    const BufferPtr buffer = *memory_->acquire(kBytes);
    fill(buffer);
    buffer->read_by(std::nullopt);
    launch_reader(buffer);
  }
  EXPECT_EQ(cuda_.totals().context_synchronisations, 3);
}

// What the fences are for: without read_by() the fake driver finds the copy over memory that a kernel reads.
TEST_F(CudaMemoryTest, AReaderThatNobodyTellsOfIsOverwritten) {
  for (int i = 0; i < 2; ++i) {
    const BufferPtr buffer = *memory_->acquire(kBytes);
    fill(buffer);
    launch_reader(buffer);
  }
  EXPECT_EQ(context_->run(context_->api().context_synchronize), kCuSuccess);
  cuda_.expected_violations = "cuMemcpyHtoDAsync: the device may still be reading what is overwritten\n";
}

TEST_F(CudaMemoryTest, MemoryOutlivesItsFeed) {
  BufferPtr buffer = *memory_->acquire(kBytes);
  fill(buffer);
  buffer->read_by(consumer());
  launch_reader(buffer);
  memory_.reset();
  EXPECT_EQ(cuda_.counts().streams, 2);
  std::thread other([moved = std::move(buffer)]() mutable { moved.reset(); });
  other.join();
  EXPECT_EQ(cuda_.counts().streams, 1);
}

TEST_F(CudaMemoryTest, UnusedMemoryIsGivenUpBeforeThereIsNone) {
  static_cast<void>(*memory_->acquire(kBytes));
  cuda_.fail(0, "cuMemAllocAsync", 0, kCuOutOfMemory);
  EXPECT_TRUE(memory_->acquire(100 * kBytes).ok());
  EXPECT_LT(cuda_.memory_in_use(0), 150 * kBytes);
}

TEST_F(CudaMemoryTest, NoMemoryNamesDeviceAndBytes) {
  const BufferPtr kept = *memory_->acquire(kBytes);
  const auto none = memory_->acquire(std::size_t{2} << 30);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::kDevice);
  EXPECT_EQ(none.status().message(),
            "/GPU:0: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (out of memory): 2147483648 bytes for a batch, with "
            "5120 bytes "
            "in batches that are ready or held by the consumer");
  EXPECT_FALSE(memory_->acquire(std::size_t{1} << 62).ok());
}

TEST(CudaContext, NoSuchDevice) {
  const FakeCuda cuda({.devices = 1});
  const auto context = CudaContext::open(cuda.driver(), testing::gpu(3));
  EXPECT_EQ(context.status().code(), StatusCode::kDevice);
  EXPECT_EQ(context.status().message(),
            "/GPU:3: the CUDA driver has 1 device for this process (CUDA_VISIBLE_DEVICES may hide others)");
}

}  // namespace
}  // namespace headrace

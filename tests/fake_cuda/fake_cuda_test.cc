// What the fake driver finds: each test does one thing that a real driver may not forgive.
#include "fake_cuda/fake_cuda.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda_context.h"
#include "fake_cuda/launch.h"
#include "fake_cuda/testing.h"

namespace headrace {
namespace {

using testing::FakeCuda;

constexpr std::size_t kBytes = 4096;

// Two streams, a piece of memory and a page on one device; every call as CudaContext does it.
class FakeCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda_ = std::make_unique<FakeCuda>(FakeCudaOptions{.devices = 2, .latency_seconds = 1e-3});
    context_ = open(0);
    EXPECT_EQ(context_->run(api().stream_create, &copies_, kCuStreamNonBlocking), kCuSuccess);
    EXPECT_EQ(context_->run(api().stream_create, &kernels_, kCuStreamNonBlocking), kCuSuccess);
    EXPECT_EQ(context_->run(api().event_create, &event_, kCuEventDisableTiming), kCuSuccess);
    EXPECT_EQ(context_->run(api().memory_allocate, &data_, kBytes, copies_), kCuSuccess);
    EXPECT_EQ(context_->run(api().memory_allocate, &out_, kBytes, kernels_), kCuSuccess);
    EXPECT_EQ(context_->run(api().host_register, page(), kBytes, kCuMemHostRegisterPortable), kCuSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(context_->run(api().context_synchronize), kCuSuccess);
    if (data_ != 0) {
      EXPECT_EQ(context_->run(api().memory_free, data_, copies_), kCuSuccess);
    }
    EXPECT_EQ(context_->run(api().memory_free, out_, kernels_), kCuSuccess);
    EXPECT_EQ(context_->run(api().host_unregister, page()), kCuSuccess);
    EXPECT_EQ(context_->run(api().event_destroy, event_), kCuSuccess);
    EXPECT_EQ(context_->run(api().stream_destroy, copies_), kCuSuccess);
    EXPECT_EQ(context_->run(api().stream_destroy, kernels_), kCuSuccess);
    context_.reset();
  }

  const CudaApi& api() const { return context_->api(); }
  std::shared_ptr<const CudaContext> open(int index) const {
    return *CudaContext::open(cuda_->driver(), {DeviceKind::kCuda, index, "/GPU:" + std::to_string(index)});
  }
  void* page() { return page_.data(); }
  void copy() { EXPECT_EQ(context_->run(api().copy_to_device, data_, page(), kBytes, copies_), kCuSuccess); }
  void sum(CuStream stream) { testing::launch_sum(*context_, stream, data_, kBytes / 8, out_); }
  void order(CuStream first, CuStream second) {
    EXPECT_EQ(context_->run(api().event_record, event_, first), kCuSuccess);
    EXPECT_EQ(context_->run(api().stream_wait_event, second, event_, 0U), kCuSuccess);
  }

  std::unique_ptr<FakeCuda> cuda_;
  std::shared_ptr<const CudaContext> context_;
  alignas(4096) std::array<std::uint8_t, kBytes> page_{};
  CuStream copies_ = nullptr;
  CuStream kernels_ = nullptr;
  CuEvent event_ = nullptr;
  CuAddress data_ = 0;
  CuAddress out_ = 0;
};

TEST_F(FakeCudaTest, CopiesAndSums) {
  for (std::size_t i = 0; i < kBytes; i += 8) page_[i] = 2;
  copy();
  order(copies_, kernels_);
  sum(kernels_);
  EXPECT_EQ(context_->run(api().context_synchronize), kCuSuccess);
  std::uint64_t total = 0;
  std::memcpy(&total, cuda_->read(reinterpret_cast<void*>(out_), 8).data(), 8);
  EXPECT_EQ(total, 512U * 513U);
  order(kernels_, copies_);
  copy();
}

TEST_F(FakeCudaTest, CopiesTakeTheirTime) {
  copy();
  EXPECT_EQ(context_->run(api().event_record, event_, copies_), kCuSuccess);
  EXPECT_EQ(context_->run(api().event_query, event_), kCuNotReady);
  EXPECT_EQ(context_->run(api().event_synchronize, event_), kCuSuccess);
  EXPECT_EQ(context_->run(api().event_query, event_), kCuSuccess);
}

TEST_F(FakeCudaTest, FindsReadsBeforeTheCopy) {
  copy();
  sum(kernels_);
  cuda_->expected_violations = "headrace_sum: read before it was written\n";
}

TEST_F(FakeCudaTest, FindsCopiesOverWhatIsRead) {
  copy();
  order(copies_, kernels_);
  sum(kernels_);
  copy();
  cuda_->expected_violations = "cuMemcpyHtoDAsync: the device may still be reading what is overwritten\n";
}

TEST_F(FakeCudaTest, AnEventOfTheContextCoversAllStreams) {
  copy();
  order(copies_, kernels_);
  sum(kernels_);
  EXPECT_EQ(context_->run(api().context_record_event, context_->handle(), event_), kCuSuccess);
  EXPECT_EQ(context_->run(api().stream_wait_event, copies_, event_, 0U), kCuSuccess);
  copy();
}

TEST_F(FakeCudaTest, FindsFreedMemory) {
  const CuAddress data = data_;
  EXPECT_EQ(context_->run(api().memory_free, data_, copies_), kCuSuccess);
  EXPECT_EQ(context_->run(api().copy_to_device, data, page(), kBytes, copies_), kCuInvalidValue);
  data_ = 0;
  cuda_->expected_violations = "cuMemcpyHtoDAsync: use after free\n";
}

TEST_F(FakeCudaTest, FindsMemoryThatIsFreedTooEarly) {
  copy();
  EXPECT_EQ(context_->run(api().memory_free, data_, kernels_), kCuSuccess);
  data_ = 0;
  cuda_->expected_violations = "cuMemFreeAsync: the memory may still be in use\n";
}

TEST_F(FakeCudaTest, FindsStagingThatIsGivenBackTooEarly) {
  copy();
  EXPECT_EQ(context_->run(api().host_unregister, page()), kCuSuccess);
  EXPECT_EQ(context_->run(api().host_register, page(), kBytes, kCuMemHostRegisterPortable), kCuSuccess);
  cuda_->expected_violations = "cuMemHostUnregister: a copy still reads it\n";
}

TEST_F(FakeCudaTest, FindsTheWrongContext) {
  const auto other = open(1);
  EXPECT_EQ(other->run(api().event_record, event_, copies_), kCuInvalidHandle);
  EXPECT_EQ(api().context_synchronize(), kCuInvalidContext);
  cuda_->expected_violations =
      "cuEventRecord: an event of another context\ncuEventRecord: a stream of another context\n"
      "cuCtxSynchronize: no context is current on this thread\n";
}

TEST_F(FakeCudaTest, CountsCopiesThatAreNotPinned) {
  const std::vector<std::uint8_t> pageable(kBytes, 7);
  EXPECT_EQ(context_->run(api().copy_to_device, data_, static_cast<const void*>(pageable.data()), kBytes, copies_),
            kCuSuccess);
  copy();
  EXPECT_EQ(cuda_->totals().unpinned_copies, 1);
  EXPECT_EQ(cuda_->totals().copies, 2);
}

TEST_F(FakeCudaTest, FailsWhenTold) {
  cuda_->fail(0, "cuMemAllocAsync", 1, kCuOutOfMemory);
  CuAddress first = 0;
  CuAddress second = 0;
  EXPECT_EQ(context_->run(api().memory_allocate, &first, kBytes, copies_), kCuSuccess);
  EXPECT_EQ(context_->run(api().memory_allocate, &second, kBytes, copies_), kCuOutOfMemory);
  EXPECT_EQ(context_->run(api().memory_allocate, &second, kBytes, copies_), kCuSuccess);
  EXPECT_EQ(cuda_->memory_in_use(0), 4 * kBytes);
  for (const CuAddress address : {first, second}) {
    EXPECT_EQ(context_->run(api().memory_free, address, copies_), kCuSuccess);
  }
}

}  // namespace
}  // namespace headrace

#include "device/cuda_copier.h"

#include <gtest/gtest.h>

#include "device/device_testing.h"
#include "device/pinned_memory.h"

namespace headrace {
namespace {

using testing::bytes_of;
using testing::FakeCuda;
using testing::number_in;
using testing::number_slice;
using testing::open_context;

class CudaCopierTest : public ::testing::Test {
 protected:
  explicit CudaCopierTest(FakeCudaOptions options = {.latency_seconds = 1e-3}) : cuda_(options) {}

  FakeCuda cuda_;
  WarningLog warnings_;
  const std::shared_ptr<const CudaContext> context_ = open_context(cuda_, 1);
  BufferPool pool_{std::make_shared<PinnedMemory>(context_, &warnings_)};
  std::unique_ptr<CudaCopier> copier_ = std::make_unique<CudaCopier>(*CudaMemory::open(context_));
};

class UnpinnedCopierTest : public CudaCopierTest {
 protected:
  UnpinnedCopierTest() : CudaCopierTest({.refuses_pinning = true}) {}
};

TEST_F(CudaCopierTest, CopiesOneBufferOnce) {
  const Result<Slice> copied = copier_->start(number_slice(pool_, 7, 100));
  ASSERT_TRUE(copied.ok()) << copied.status().to_string();
  ASSERT_TRUE(copier_->finish().ok());
  EXPECT_EQ(copied->rows, 100);
  EXPECT_EQ(copied->batch_number, 7);
  EXPECT_EQ(copied->columns[0].values.buffer, copied->columns[1].values.buffer);
  EXPECT_EQ(copied->columns[0].values.buffer->device()->name, "/GPU:1");
  EXPECT_EQ(number_in(cuda_, *copied), 7);
  EXPECT_EQ(cuda_.totals().copies, 1);
  EXPECT_EQ(cuda_.totals().unpinned_copies, 0);
}

TEST_F(CudaCopierTest, ASourceIsKeptUntilItsCopyIsOver) {
  const Result<Slice> first = copier_->start(number_slice(pool_, 1, 50));
  const Result<Slice> second = copier_->start(number_slice(pool_, 2, 50));
  EXPECT_GT(pool_.bytes_in_use(), 0);
  EXPECT_TRUE(copier_->finish().ok());
  EXPECT_TRUE(copier_->finish().ok());
  EXPECT_EQ(pool_.bytes_in_use(), 0);
  EXPECT_EQ(number_in(cuda_, *first), 1);
  EXPECT_EQ(number_in(cuda_, *second), 2);
}

TEST_F(CudaCopierTest, EndsInMidCopy) {
  static_cast<void>(copier_->start(number_slice(pool_, 1, 50)));
  copier_.reset();
  EXPECT_EQ(pool_.bytes_in_use(), 0);
}

TEST_F(CudaCopierTest, StringsStayWithTheHost) {
  Slice slice = number_slice(pool_, 3, 10);
  Column text{.name = "text", .values = {DType::kBytes, {10}, nullptr, pool_.acquire(500)}};
  text.values.data = text.values.buffer->data();
  text.payload = text.values.data + 240;
  slice.columns.push_back(text);
  const Result<Slice> copied = copier_->start(std::move(slice));
  ASSERT_TRUE(copied.ok() && copier_->finish().ok());
  EXPECT_EQ(copied->columns[2].values.data, text.values.data);
  EXPECT_EQ(copied->columns[2].values.buffer->device(), nullptr);
  EXPECT_EQ(cuda_.totals().copies, 1);
}

TEST_F(CudaCopierTest, SplitsAndIndicesGoAlong) {
  Slice slice = number_slice(pool_, 3, 10);
  Column& ragged = slice.columns[0];
  ragged.kind = ColumnKind::kRagged;
  ragged.row_splits.push_back({DType::kInt64, {3}, ragged.values.data, ragged.values.buffer});
  ragged.indices = {DType::kInt64, {0, 2}, nullptr, ragged.values.buffer};
  const Result<Slice> copied = copier_->start(std::move(slice));
  ASSERT_TRUE(copied.ok() && copier_->finish().ok());
  const Column& there = copied->columns[0];
  EXPECT_EQ(there.row_splits[0].data, there.values.data);
  EXPECT_EQ(there.row_splits[0].buffer->device()->index, 1);
  EXPECT_EQ(there.indices.data, nullptr);
  EXPECT_EQ(there.indices.buffer, there.values.buffer);
}

TEST_F(CudaCopierTest, AFailedStartLeavesNothingUnderWay) {
  Slice slice = number_slice(pool_, 1, 50);
  Slice other = number_slice(pool_, 1, 50);
  slice.columns[1].values = other.columns[1].values;  // a second buffer, whose copy fails
  other = {};
  cuda_.fail(1, "cuMemcpyHtoDAsync", 1, kCuLaunchFailed);
  const Result<Slice> copied = copier_->start(std::move(slice));
  EXPECT_EQ(copied.status().message(),
            "/GPU:1: cuMemcpyHtoDAsync_v2: CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)");
  EXPECT_EQ(pool_.bytes_in_use(), 0);
  EXPECT_TRUE(copier_->start(number_slice(pool_, 2, 50)).ok());
  EXPECT_TRUE(copier_->finish().ok());
}

TEST_F(CudaCopierTest, ADeviceLostInMidCopy) {
  cuda_.fail(1, "copy", 0, kCuEccUncorrectable, true);
  ASSERT_TRUE(copier_->start(number_slice(pool_, 1, 50)).ok());
  const Status lost = copier_->finish();
  EXPECT_EQ(lost.code(), StatusCode::kDevice);
  EXPECT_EQ(lost.message(),
            "/GPU:1: cuEventSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE (uncorrectable ECC error encountered)");
  EXPECT_FALSE(copier_->start(number_slice(pool_, 2, 50)).ok());
}

TEST_F(UnpinnedCopierTest, MemoryThatCannotBePinnedIsCopiedAllTheSameAndOneWarningSaysWhatItCosts) {
  for (int i = 0; i < 3; ++i) {
    const Result<Slice> copied = copier_->start(number_slice(pool_, i, 50 << i));
    ASSERT_TRUE(copied.ok() && copier_->finish().ok());
    EXPECT_EQ(number_in(cuda_, *copied), i);
  }
  EXPECT_EQ(cuda_.totals().unpinned_copies, 3);
  ASSERT_EQ(warnings_.texts().size(), 1U);
  EXPECT_NE(warnings_.texts()[0].find("/GPU:1: cuMemHostRegister_v2: CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos);
  EXPECT_NE(warnings_.texts()[0].find("once more on the host"), std::string::npos);
}

}  // namespace
}  // namespace headrace

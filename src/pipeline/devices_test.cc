// Whole pipelines that end on CUDA devices (of the fake driver).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "fake_cuda/testing.h"
#include "pipeline/pipeline_impl.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using testing::FakeCuda;
using Ids = std::vector<std::int64_t>;

class DevicesTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("HEADRACE_CUDA_LIBRARY", FakeCuda::path().c_str(), 1); }
  void TearDown() override { ::unsetenv("HEADRACE_CUDA_LIBRARY"); }

  Dataset dataset(const std::vector<std::string>& devices) const {
    const Files files{write_shards(folder_, {22}), true};
    return TFRecordDataset(files).batch({.size = 8}).parse(full_schema()).prefetch_to_device({.devices = devices});
  }
  /// The ids of a slice, wherever it is.
  Ids ids_on(const Slice& slice) const {
    const Tensor& values = slice.find("id")->values;
    Ids found(static_cast<std::size_t>(slice.rows));
    if (found.empty()) return found;
    if (values.buffer->device() == nullptr) {
      std::memcpy(found.data(), values.data, values.bytes());
    } else {
      std::memcpy(found.data(), cuda_.read(values.data, values.bytes()).data(), values.bytes());
    }
    return found;
  }
  /// The ids of the next batch; none at the end, -1 for a failure.
  Ids next(Pipeline& pipeline) const {
    const Result<std::optional<Batch>> batch = pipeline.next();
    if (!batch.ok()) return {-1};
    Ids all;
    if (!*batch) return all;
    for (const Slice& slice : (*batch)->replicas) {
      const Ids more = ids_on(slice);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  const FakeCuda cuda_;
  const TemporaryFolder folder_;
};

TEST_F(DevicesTest, BatchesAreOnTheirDevices) {
  Result<Pipeline> pipeline = dataset({"/GPU:0", "/CPU:0", "cuda:1", "/GPU:1"}).open();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  Result<std::optional<Batch>> batch = pipeline->next();
  ASSERT_TRUE(batch.ok() && *batch);
  std::vector<std::string> places;
  for (const Slice& slice : (*batch)->replicas) {
    const Device* const device = slice.find("x")->values.buffer->device();
    places.push_back(device != nullptr ? device->name : "host");
    EXPECT_EQ(slice.find("s")->values.buffer->device(), nullptr);
    EXPECT_EQ(slice.find("s")->bytes_at(0), std::to_string(ids_on(slice)[0]));
  }
  EXPECT_EQ(places, (std::vector<std::string>{"/GPU:0", "host", "/GPU:1", "/GPU:1"}));
  batch = std::optional<Batch>();
  EXPECT_EQ(next(*pipeline), range(8, 16));
  EXPECT_EQ(next(*pipeline), range(16, 22)) << "its shares are not equal";
  EXPECT_TRUE(next(*pipeline).empty());
  EXPECT_EQ(cuda_.totals().unpinned_copies, 0);
  EXPECT_EQ(pipeline->impl()->report().warnings, std::vector<std::string>());
}

TEST_F(DevicesTest, ThePositionIsThatOfTheConsumer) {
  const Dataset on_devices = dataset({"/GPU:0", "/GPU:1"});
  Result<Pipeline> pipeline = on_devices.open();
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(pipeline->position()->batches, 0);
  EXPECT_EQ(next(*pipeline), range(0, 8));
  const Result<Position> position = pipeline->position();
  ASSERT_TRUE(position.ok());
  EXPECT_EQ(position->batches, 1);
  pipeline->close();
  Result<Pipeline> resumed = on_devices.open(*position);
  ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
  EXPECT_EQ(next(*resumed), range(8, 16));
  EXPECT_EQ(resumed->position()->batches, 2);
}

TEST_F(DevicesTest, AFailureOfTheStreamComesBehindItsBatches) {
  const std::string path = folder_.file("broken");
  write_records(path, {example(0), example(1), example(2), "no example"});
  Result<Pipeline> pipeline = TFRecordDataset(Files{{path}, true})
                                  .batch({.size = 2})
                                  .parse(full_schema())
                                  .prefetch_to_device({.devices = {"/GPU:0"}})
                                  .open();
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(next(*pipeline), range(0, 2));
  EXPECT_EQ(pipeline->position()->batches, 1) << "the partial batch that follows does not count";
  EXPECT_EQ(next(*pipeline), range(2, 3));
  EXPECT_EQ(next(*pipeline), Ids{-1});
  EXPECT_EQ(pipeline->position()->batches, 1);
}

TEST_F(DevicesTest, ADeviceThatFailsEndsThePipeline) {
  cuda_.fail(1, "cuMemAllocAsync", 0, kCuOutOfMemory);
  Result<Pipeline> pipeline = dataset({"/GPU:0", "/GPU:1"}).open();
  ASSERT_TRUE(pipeline.ok());
  for (int i = 0; i < 2; ++i) {
    const Result<std::optional<Batch>> batch = pipeline->next();
    EXPECT_EQ(batch.status().code(), StatusCode::kDevice);
    EXPECT_NE(batch.status().message().find("/GPU:1"), std::string::npos);
  }
  EXPECT_EQ(pipeline->position()->batches, 0);
}

TEST_F(DevicesTest, OpenFailsWithoutTheDevice) {
  EXPECT_EQ(dataset({"/GPU:9"}).open().status().code(), StatusCode::kDevice);
  ::setenv("HEADRACE_CUDA_LIBRARY", "libno_such_driver.so.1", 1);
  const Dataset declared = dataset({"/GPU:0"});
  EXPECT_TRUE(declared.status().ok()) << "a dataset may be declared where there is no device";
  EXPECT_EQ(declared.open().status().code(), StatusCode::kDevice);
}

}  // namespace
}  // namespace headrace

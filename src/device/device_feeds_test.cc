// Delivery, the same questions to every kind of device.
#include "device/device_feeds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/delivery_testing.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;
using testing::DeliveryWorld;
using testing::WorldOptions;

struct Subject {
  const char* name;
  std::vector<std::string> devices;  // four
};

class DeviceFeedsTest : public ::testing::TestWithParam<Subject> {
 protected:
  const std::vector<std::string>& devices() const { return GetParam().devices; }
};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceFeedsTest,
                         ::testing::Values(Subject{"Host", {"/CPU:0", "/CPU:1", "/CPU:2", "/CPU:3"}},
                                           Subject{"Cuda", {"/GPU:0", "/GPU:1", "/GPU:2", "/GPU:3"}},
                                           Subject{"OneGpu", {"/GPU:1", "/GPU:1", "/GPU:1", "/GPU:1"}},
                                           Subject{"Mixed", {"/CPU:0", "/GPU:0", "/GPU:1", "/CPU:1"}}),
                         [](const auto& subject) { return std::string(subject.param.name); });

void read_all(DeliveryWorld& world, int replica, int batches, std::atomic<int>* wrong) {
  for (int k = 0; k < batches; ++k) *wrong += world.take(replica) != k;
  *wrong += world.take(replica) != -1;
}

TEST_P(DeviceFeedsTest, WholeBatchesInOrder) {
  DeliveryWorld world(devices(), {});
  for (int k = 0; k < 20; ++k) {
    Result<std::optional<Batch>> batch = std::optional<Batch>();
    ASSERT_EQ(world.feeds->next_for(milliseconds(5000), &batch), Wait::kReady);
    ASSERT_TRUE(batch.ok() && *batch) << batch.status().to_string();
    EXPECT_EQ((*batch)->number, k);
    EXPECT_EQ((*batch)->global_rows, 4 * testing::kRows);
    for (int r = 0; r < 4; ++r) EXPECT_TRUE(world.check((*batch)->replicas[static_cast<std::size_t>(r)], r));
    EXPECT_EQ(world.feeds->next_number(), k + 1);
  }
  for (int i = 0; i < 2; ++i) {
    Result<std::optional<Batch>> batch = std::optional<Batch>(Batch());
    ASSERT_EQ(world.feeds->next_for(milliseconds(5000), &batch), Wait::kReady);
    EXPECT_TRUE(batch.ok() && !*batch);
  }
}

TEST_P(DeviceFeedsTest, ReplicasInThreadsOfTheirOwn) {
  constexpr int kBatches = 100;
  DeliveryWorld world(devices(), {.batches = kBatches});
  std::atomic<int> wrong{0};
  {
    std::vector<Thread> threads;
    for (int r = 0; r < 4; ++r) threads.emplace_back("replica", [&, r] { read_all(world, r, kBatches, &wrong); });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(DeviceFeedsTest, NothingIsTakenBeforeTheFirstNext) {
  DeliveryWorld world(devices(), {});
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(world.fetched(), 0);
  EXPECT_EQ(world.feeds->next_number(), 0);
}

TEST_P(DeviceFeedsTest, ALeaderWaitsAndIsWarnedAbout) {
  for (const int depth : {1, 3}) {
    DeliveryWorld world(devices(), {.depth = depth, .stall_seconds = 0.001});
    int lead = 0;
    for (; world.take(0, milliseconds(1000)) == lead; ++lead) {
    }
    EXPECT_EQ(lead, depth + 2);
    EXPECT_EQ(world.feeds->next_number(), 0) << "of the replicas that have not read";
    ASSERT_TRUE(DeliveryWorld::soon([&world] { return !world.warnings.texts().empty(); }));
    EXPECT_NE(world.warnings.texts()[0].find("has not taken"), std::string::npos) << world.warnings.texts()[0];
    EXPECT_EQ(world.warnings.texts().size(), 1U);
    for (int r = 1; r < 4; ++r) EXPECT_EQ(world.take(r), 0);
    EXPECT_EQ(world.take(0), lead);
  }
}

TEST_P(DeviceFeedsTest, AFailureOfTheStreamReachesEveryReplica) {
  DeliveryWorld world(devices(), {.batches = 2, .last = data_loss("broken")});
  for (int k = 0; k < 2; ++k) {
    for (int r = 0; r < 4; ++r) EXPECT_EQ(world.take(r), k);
  }
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(world.take(r), -2);
    EXPECT_EQ(world.status().code(), StatusCode::kDataLoss);
  }
}

TEST_P(DeviceFeedsTest, WhoKeepsBatchesGetsMore) {
  DeliveryWorld world(devices(), {.depth = 1});
  std::vector<Slice> kept;
  for (int k = 0; k < 20; ++k) {
    for (int r = 0; r < 4; ++r) {
      Result<std::optional<Slice>> slice = std::optional<Slice>();
      ASSERT_EQ(world.feeds->next_slice_for(r, milliseconds(5000), &slice), Wait::kReady);
      ASSERT_TRUE(slice.ok() && *slice);
      kept.push_back(std::move(**slice));
    }
  }
  world.close();
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(world.check(kept[i], static_cast<int>(i % 4)));
}

TEST_P(DeviceFeedsTest, CloseInMidCopy) {
  DeliveryWorld world(devices(), {.cuda = {.latency_seconds = 0.05}});
  EXPECT_EQ(world.take(2), 0);
  world.close();
  EXPECT_EQ(world.take(2), -2);
  EXPECT_EQ(world.status().code(), StatusCode::kCancelled);
}

TEST_P(DeviceFeedsTest, CloseBeforeTheFirstNext) {
  DeliveryWorld world(devices(), {});
  world.close();
  EXPECT_EQ(world.take(0), -2);
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  EXPECT_EQ(world.feeds->next_for(milliseconds(0), &batch), Wait::kReady);
  EXPECT_EQ(batch.status().code(), StatusCode::kCancelled);
}

TEST_P(DeviceFeedsTest, CloseWakesWhoWaits) {
  DeliveryWorld world(devices(), {.depth = 1});
  while (world.take(0, milliseconds(100)) >= 0) {
  }
  const Thread closer("closer", [&world] {
    std::this_thread::sleep_for(milliseconds(20));
    world.stop.request_stop();
  });
  EXPECT_EQ(world.take(0, std::chrono::minutes(1)), -2);
}

}  // namespace
}  // namespace headrace

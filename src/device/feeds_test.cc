#include "device/feeds.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/thread.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;

// `batches` batches for `replicas` replicas; slice r of batch k has 100 k + r rows. Then `last`.
class Stream {
 public:
  Stream(int replicas, int batches, Status last = {})
      : replicas_(replicas), batches_(batches), last_(std::move(last)) {}

  Wait fetch(Result<std::optional<Batch>>* out) {
    const int k = fetched_++;
    if (k >= batches_) {
      if (last_.ok()) {
        *out = std::optional<Batch>();
      } else {
        *out = last_;
      }
      return Wait::kReady;
    }
    Batch batch;
    for (int r = 0; r < replicas_; ++r) batch.replicas.emplace_back().rows = 100 * k + r;
    *out = std::optional<Batch>(std::move(batch));
    return Wait::kReady;
  }
  int fetched() const { return fetched_; }

 private:
  const int replicas_;
  const int batches_;
  const Status last_;
  std::atomic<int> fetched_{0};
};

struct Fixture {
  Fixture(int replicas, int batches, int max_lead, Status last = {}, double stall_seconds = 30)
      : stream(replicas, batches, std::move(last)),
        feeds(
            replicas, max_lead, stall_seconds,
            [this](milliseconds, Result<std::optional<Batch>>* out) { return stream.fetch(out); }, &warnings, &page,
            stop.get_token()) {}

  // Rows of the next slice; -1 = end, -2 = failure, -3 = timeout.
  std::int64_t take(int replica, milliseconds timeout = milliseconds(2000)) {
    Result<std::optional<Slice>> slice = std::optional<Slice>();
    if (feeds.next_for(replica, timeout, &slice) == Wait::kTimeout) return -3;
    if (!slice.ok()) return -2;
    return *slice ? (*slice)->rows : -1;
  }

  std::stop_source stop;
  WarningLog warnings;
  StatusPage page{"", "test", 1, 2};
  Stream stream;
  Feeds feeds;
};

TEST(Feeds, WaitsAreCountedByReplicaOnceForEachSlice) {
  Fixture f(2, 3, 4);
  const auto counted = [&f](int replica) {
    return f.page.words().replica[static_cast<std::size_t>(replica)].batches.load();
  };
  for (int k = 0; k < 3; ++k) f.take(0);
  f.take(1);
  EXPECT_EQ(counted(0), 3);
  EXPECT_EQ(counted(1), 1);
  EXPECT_EQ(f.take(0), -1);
  EXPECT_EQ(counted(0), 3) << "the end is no batch";
  std::int64_t all = 0;
  for (const auto& count : f.page.words().waits.counts) all += count.load();
  EXPECT_EQ(all, 4);
  EXPECT_EQ(f.page.words().replica[0].waiting_since_ns.load(), 0);
}

TEST(Feeds, EachReplicaSeesItsSlicesInOrder) {
  Fixture f(2, 3, 4);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(f.take(0), 100 * k);
  EXPECT_EQ(f.feeds.backlog(), 3);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(f.take(1), 100 * k + 1);
  EXPECT_EQ(f.feeds.backlog(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(f.take(0), -1);
    EXPECT_EQ(f.take(1), -1);
  }
}

TEST(Feeds, FailureReachesEveryReplicaBehindItsLastSlice) {
  Fixture f(2, 1, 4, data_loss("broken"));
  EXPECT_EQ(f.take(0), 0);
  EXPECT_EQ(f.take(0), -2);
  EXPECT_EQ(f.take(1), 1);
  EXPECT_EQ(f.take(1), -2);
  EXPECT_EQ(f.take(0), -2);
}

TEST(Feeds, LeaderWaitsForTheSlowestAndIsWarnedAbout) {
  Fixture f(2, 10, 2, {}, 0.001);
  EXPECT_EQ(f.take(0), 0);
  EXPECT_EQ(f.take(0), 100);
  EXPECT_EQ(f.take(0, milliseconds(20)), -3);
  EXPECT_EQ(f.take(0, milliseconds(20)), -3);
  ASSERT_EQ(f.warnings.texts().size(), 1U);
  EXPECT_EQ(f.warnings.texts()[0], "replica 0 waits: replica 1 has not taken its last 2 batches");
  EXPECT_EQ(f.take(1), 1);
  EXPECT_EQ(f.take(0), 200);
  EXPECT_EQ(f.stream.fetched(), 3);
}

TEST(Feeds, NobodyLagsWhileTheSourceIsSlow) {
  std::stop_source stop;
  WarningLog warnings;
  Feeds feeds(
      2, 1, 0.001,
      [](milliseconds timeout, Result<std::optional<Batch>>*) {
        std::this_thread::sleep_for(timeout);
        return Wait::kTimeout;
      },
      &warnings, nullptr, stop.get_token());
  const auto wait = [&feeds](int replica) {
    Result<std::optional<Slice>> slice = std::optional<Slice>();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(feeds.next_for(replica, milliseconds(5), &slice), Wait::kTimeout);
  };
  {
    const Thread other("replica", [&wait] { wait(1); });
    wait(0);
  }
  EXPECT_TRUE(warnings.texts().empty()) << warnings.texts()[0];
}

TEST(Feeds, ALookIsNoWait) {
  Fixture f(2, 10, 1, {}, 0.001);
  EXPECT_EQ(f.take(0), 0);
  EXPECT_EQ(f.take(0, milliseconds(0)), -3);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(f.take(0, milliseconds(0)), -3);
  EXPECT_TRUE(f.warnings.texts().empty());
}

TEST(Feeds, ReplicasInThreadsOfTheirOwn) {
  constexpr int kReplicas = 4;
  constexpr int kBatches = 300;
  Fixture f(kReplicas, kBatches, 3);
  std::atomic<int> wrong{0};
  {
    std::vector<Thread> threads;
    for (int r = 0; r < kReplicas; ++r) {
      threads.emplace_back("replica", [&f, &wrong, r] {
        for (int k = 0; k < kBatches; ++k) wrong += f.take(r) != 100 * k + r;
        wrong += f.take(r) != -1;
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(f.stream.fetched(), kBatches + 1);
}

TEST(Feeds, StopWakesAWaitingLeader) {
  Fixture f(2, 10, 1);
  EXPECT_EQ(f.take(0), 0);
  const Thread stopper("stopper", [&f] {
    std::this_thread::sleep_for(milliseconds(20));
    f.stop.request_stop();
  });
  EXPECT_EQ(f.take(0, std::chrono::minutes(1)), -2);
}

}  // namespace
}  // namespace headrace

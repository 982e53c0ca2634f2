#include "device/device_feed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace headrace {
namespace {

using std::chrono::milliseconds;

// A device whose copies end when they are told to.
class HandCopier : public SliceCopier {
 public:
  struct Hand {
    std::atomic<int> started{0};
    std::atomic<int> finished{0};
    std::atomic<int> may_finish{1 << 20};
    std::atomic<int> fail_start{-1};   // the number of the start that fails
    std::atomic<int> fail_finish{-1};  // the same of finish()
  };

  explicit HandCopier(Hand* hand) : hand_(hand) {}
  Result<Slice> start(Slice slice) override {
    if (hand_->started == hand_->fail_start) return Status(StatusCode::kDevice, "start failed");
    ++hand_->started;
    return slice;
  }
  Status finish() override {
    while (hand_->finished >= hand_->may_finish) std::this_thread::sleep_for(milliseconds(1));
    if (hand_->finished++ == hand_->fail_finish) return {StatusCode::kDevice, "copy failed"};
    return {};
  }

 private:
  Hand* const hand_;
};

// Slices 0, 1, … of one row each, `count` of them, then `last`.
struct Fixture {
  explicit Fixture(int depth, int count_in = 1 << 20, Status last_in = {})
      : count(count_in), last(std::move(last_in)), depth_(depth) {}
  ~Fixture() { close(); }

  // Number of the next slice; -1 = end, -2 = failure, -3 = timeout.
  std::int64_t take(milliseconds timeout = milliseconds(2000)) {
    if (!feed) {
      feed.emplace(
          "test", std::make_unique<HandCopier>(&hand), depth_, 0,
          [this](milliseconds wait, Result<std::optional<Slice>>* slice) { return give(wait, slice); },
          stop.get_token());
    }
    Result<std::optional<Slice>> slice = std::optional<Slice>();
    if (feed->next_for(timeout, &slice) == Wait::kTimeout) return -3;
    status = slice.status();
    if (!slice.ok()) return -2;
    return *slice ? (*slice)->batch_number : -1;
  }
  Wait give(milliseconds timeout, Result<std::optional<Slice>>* slice) {
    for (; given >= may_give && timeout > milliseconds(0) && !stop.stop_requested(); timeout -= milliseconds(1)) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    if (given >= may_give) return Wait::kTimeout;
    if (given == count) {
      if (last.ok()) {
        *slice = std::optional<Slice>();
      } else {
        *slice = last;
      }
      return Wait::kReady;
    }
    Slice made;
    made.rows = 1;
    made.batch_number = given++;
    *slice = std::optional<Slice>(std::move(made));
    return Wait::kReady;
  }
  void close() {
    stop.request_stop();
    if (feed) feed->join();
  }
  template <class Predicate>
  static bool soon(Predicate predicate) {
    for (int i = 0; i < 2000 && !predicate(); ++i) std::this_thread::sleep_for(milliseconds(1));
    return predicate();
  }

  const int count;
  const Status last;
  std::atomic<int> given{0};
  std::atomic<int> may_give{1 << 21};
  std::stop_source stop;
  HandCopier::Hand hand;
  Status status;

 private:
  const int depth_;
  std::optional<DeviceFeed> feed;
};

TEST(DeviceFeed, SlicesInOrderThenTheEnd) {
  for (const int depth : {1, 2, 5}) {
    Fixture f(depth, 20);
    for (int k = 0; k < 20; ++k) EXPECT_EQ(f.take(), k);
    EXPECT_EQ(f.take(), -1);
    EXPECT_EQ(f.take(), -1);
  }
}

TEST(DeviceFeed, AFailureOfTheStreamComesBehindItsSlices) {
  Fixture f(2, 3, data_loss("broken"));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(f.take(), k);
  EXPECT_EQ(f.take(), -2);
  EXPECT_EQ(f.status.code(), StatusCode::kDataLoss);
}

TEST(DeviceFeed, HoldsDepthAndOneMore) {
  for (const int depth : {1, 2, 4}) {
    Fixture f(depth);
    EXPECT_EQ(f.take(), 0);
    EXPECT_TRUE(Fixture::soon([&] { return f.hand.finished == depth + 2; }));
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(f.given, depth + 2) << "one was taken";
  }
}

TEST(DeviceFeed, TwoCopiesAreUnderWay) {
  Fixture f(2);
  f.hand.may_finish = 0;
  EXPECT_EQ(f.take(milliseconds(10)), -3);
  EXPECT_TRUE(Fixture::soon([&] { return f.hand.started == 2; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(f.hand.started, 2);
  f.hand.may_finish = 1 << 20;
  EXPECT_EQ(f.take(), 0);
}

TEST(DeviceFeed, ACopyDoesNotWaitForTheNextSlice) {
  Fixture f(2);
  f.may_give = 1;
  EXPECT_EQ(f.take(), 0);
  EXPECT_EQ(f.take(milliseconds(10)), -3);
  f.may_give = 2;
  EXPECT_EQ(f.take(), 1);
}

TEST(DeviceFeed, ADeviceThatFailsEndsItsFeedAndDropsTheRest) {
  Fixture f(2, 50);
  f.hand.fail_start = 3;
  for (int k = 0; k < 3; ++k) EXPECT_EQ(f.take(), k);
  EXPECT_EQ(f.take(), -2);
  EXPECT_EQ(f.status.message(), "start failed");
  EXPECT_TRUE(Fixture::soon([&] { return f.given == 50; })) << "the other replicas must not wait for this one";
  EXPECT_EQ(f.take(), -2);
}

TEST(DeviceFeed, ACopyThatFailsIsNotHandedOut) {
  Fixture f(3, 50);
  f.hand.fail_finish = 2;
  EXPECT_EQ(f.take(), 0);
  EXPECT_EQ(f.take(), 1);
  EXPECT_EQ(f.take(), -2);
  EXPECT_EQ(f.status.message(), "copy failed");
  EXPECT_TRUE(Fixture::soon([&] { return f.given == 50; }));
  EXPECT_EQ(f.hand.finished, f.hand.started) << "nothing stays under way";
}

TEST(DeviceFeed, CloseWaitsForTheCopyAndWakesTheConsumer) {
  Fixture f(2);
  f.hand.may_finish = 0;
  EXPECT_EQ(f.take(milliseconds(10)), -3);
  const Thread closer("closer", [&f] {
    std::this_thread::sleep_for(milliseconds(20));
    f.stop.request_stop();
  });
  EXPECT_EQ(f.take(std::chrono::minutes(1)), -2);
  EXPECT_EQ(f.status.code(), StatusCode::kCancelled);
  f.hand.may_finish = 1 << 20;
  f.close();
  EXPECT_EQ(f.hand.finished, f.hand.started);
  EXPECT_EQ(f.take(), -2);
}

}  // namespace
}  // namespace headrace

#include "runtime/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace headrace::testing {
namespace {

using std::chrono::milliseconds;

struct Gate {
  Mutex mutex;
  CondVar changed;
  int tokens = 0;
  std::stop_source stop;

  bool take() {
    MutexLock lock(mutex);
    if (!changed.wait(mutex, stop.get_token(), [this] { return tokens > 0; })) return false;
    --tokens;
    return true;
  }
  void give() {
    {
      MutexLock lock(mutex);
      ++tokens;
    }
    changed.notify_one();
  }
};

TEST(CondVar, AnswersAtOnceWhatHolds) {
  Gate gate;
  gate.give();
  gate.stop.request_stop();
  EXPECT_TRUE(gate.take()) << "what is there comes before the stop";
  EXPECT_FALSE(gate.take());
}

TEST(CondVar, AStopWakesWhoeverWaits) {
  Gate gate;
  std::atomic<int> stopped = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { stopped += gate.take() ? 0 : 1; });
  }
  std::this_thread::sleep_for(milliseconds(10));
  gate.stop.request_stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stopped, 3);
}

TEST(CondVar, AWaitEndsWithItsTime) {
  Gate gate;
  MutexLock lock(gate.mutex);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(gate.changed.wait_for(gate.mutex, gate.stop.get_token(), milliseconds(20), [] { return false; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  EXPECT_FALSE(gate.stop.stop_requested());
}

// A woken thread may find that another one was faster; it must go on waiting, not answer "stopped".
TEST(CondVar, EveryTokenIsTakenOnceAndNobodyLeavesEarly) {
  constexpr int kTakers = 4;
  constexpr int kGivers = 2;
  constexpr int kEach = 2000;
  Gate gate;
  std::atomic<int> taken = 0;
  std::atomic<int> left = 0;
  std::vector<std::thread> takers;
  for (int i = 0; i < kTakers; ++i) {
    takers.emplace_back([&] {
      while (gate.take()) ++taken;
      ++left;
    });
  }
  std::vector<std::thread> givers;
  for (int i = 0; i < kGivers; ++i) {
    givers.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) gate.give();
    });
  }
  for (std::thread& giver : givers) giver.join();
  while (taken < kGivers * kEach) std::this_thread::yield();
  EXPECT_EQ(left, 0);
  gate.stop.request_stop();
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken, kGivers * kEach);
}

}  // namespace
}  // namespace headrace::testing

#include "runtime/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <new>
#include <thread>
#include <vector>

#include "support/allocation_count.h"

namespace headrace {
namespace {

TEST(WorkerPool, RunsEveryTask) {
  auto pool = std::make_shared<WorkerPool>("test", 2);
  std::atomic<int> sum{0};
  std::latch done(100);
  TaskGroup group(pool, 2);
  for (int i = 0; i < 100; ++i) {
    group.submit(0, [&sum, &done, i] {
      sum += i;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(sum, 4950);
}

TEST(WorkerPool, SmallestPriorityFirstThenOrderOfSubmission) {
  auto pool = std::make_shared<WorkerPool>("test", 1);
  TaskGroup group(pool, 1);
  std::latch go(1);
  std::latch done(4);
  std::vector<int> order;  // only the one worker writes it
  group.submit(0, [&go] { go.wait(); });
  for (const int priority : {3, 1, 2, 1}) {
    group.submit(static_cast<TaskPriority>(priority), [&order, &done, priority] {
      order.push_back(priority);
      done.count_down();
    });
  }
  go.count_down();
  done.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 1, 2, 3}));
}

TEST(WorkerPool, GroupStaysBelowItsCap) {
  auto pool = std::make_shared<WorkerPool>("test", 4);
  TaskGroup group(pool, 2);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::latch done(200);
  for (int i = 0; i < 200; ++i) {
    group.submit(0, [&] {
      const int now = ++running;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      --running;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_LE(most, 2);
}

TEST(WorkerPool, CloseDropsWaitingTasksAndWaitsForRunningOnes) {
  auto pool = std::make_shared<WorkerPool>("test", 1);
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> waiting_task = held;
  std::latch started(1);
  std::atomic<bool> finished{false};
  std::atomic<bool> ran_second{false};
  TaskGroup group(pool, 1);
  group.submit(0, [&] {
    started.count_down();
    while (!waiting_task.expired()) std::this_thread::yield();  // close() drops the other task first
    finished = true;
  });
  group.submit(0, [held = std::move(held), &ran_second] { ran_second = true; });
  started.wait();
  group.close();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(ran_second);
  group.submit(0, [&ran_second] { ran_second = true; });
  group.close();
  EXPECT_FALSE(ran_second);
}

TEST(WorkerPool, SharedPoolIsOneAndGoesWithItsLastUser) {
  const std::weak_ptr<WorkerPool> watch = [] {
    const auto first = WorkerPool::shared(1);
    const auto second = WorkerPool::shared(3);
    EXPECT_EQ(first, second);
    EXPECT_EQ(first->threads(), 3);
    return std::weak_ptr<WorkerPool>(first);
  }();
  EXPECT_TRUE(watch.expired());
}

// A thread that does not start throws out of the constructor, which must not wait for those that did.
TEST(WorkerPool, OneOfWhichAThreadDoesNotStartEnds) {
  int failures = 0;
  for (std::int64_t failing = 0;; ++failing) {
    testing::fail_allocations(failing, 1);
    try {
      const auto pool = std::make_shared<WorkerPool>("test", 4);
      testing::fail_allocations(0, 0);
      if (pool->threads() == 4) break;  // it asked for less memory than that
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 4);
}

TEST(WorkerPool, ATaskWithoutMemoryIsToldToItsGroup) {
  const auto pool = std::make_shared<WorkerPool>("test", 1);
  std::latch told(2);
  TaskGroup group(pool, 1, [&told] { told.count_down(); });
  group.submit(0, [] { throw std::bad_alloc(); });
  group.submit(1, [&told] { told.count_down(); });  // the thread goes on
  told.wait();
}

}  // namespace
}  // namespace headrace

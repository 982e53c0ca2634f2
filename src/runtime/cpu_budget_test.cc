#include "runtime/cpu_budget.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

namespace headrace {
namespace {

TEST(CpuBudget, IsSharedByLocalProcessesAndNeverZero) {
  const int alone = cpu_budget();
  EXPECT_GE(alone, 1);
  setenv("LOCAL_WORLD_SIZE", "1000000", 1);
  EXPECT_EQ(cpu_budget(), 1);
  unsetenv("LOCAL_WORLD_SIZE");
}

TEST(CpuBudget, FollowsTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cpu_budget(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(cpu_budget(), 1);
}

}  // namespace
}  // namespace headrace

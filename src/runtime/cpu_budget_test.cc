#include "runtime/cpu_budget.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headrace {
namespace {

TEST(CpuBudget, ReadsCpuMax) {
  EXPECT_DOUBLE_EQ(parse_cpu_max("200000 100000\n"), 2.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("50000 100000"), 0.5);
  EXPECT_DOUBLE_EQ(parse_cpu_max("max 100000"), 0.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max(""), 0.0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("100000 0"), 0.0);
}

TEST(CpuBudget, IsSharedByLocalProcessesAndNeverZero) {
  const int alone = cpu_budget();
  EXPECT_GE(alone, 1);
  setenv("LOCAL_WORLD_SIZE", "1000000", 1);
  EXPECT_EQ(cpu_budget(), 1);
  unsetenv("LOCAL_WORLD_SIZE");
}

}  // namespace
}  // namespace headrace

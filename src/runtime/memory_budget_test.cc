#include "runtime/memory_budget.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(MemoryBudget, IsWhatThisProcessHas) {
  EXPECT_GT(memory_of_process(), 64 << 20);
  setenv("LOCAL_WORLD_SIZE", "4", 1);
  const std::int64_t quarter = memory_of_process();
  unsetenv("LOCAL_WORLD_SIZE");
  EXPECT_EQ(quarter, memory_of_process() / 4);
}

}  // namespace
}  // namespace headrace

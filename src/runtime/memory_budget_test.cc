#include "runtime/memory_budget.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(MemoryBudget, TextsOfControlGroups) {
  EXPECT_EQ(parse_memory_max("1073741824\n"), 1 << 30);
  EXPECT_EQ(parse_memory_max("max\n"), 0);
  EXPECT_EQ(parse_memory_max(""), 0);
  EXPECT_EQ(parse_memory_max("-1"), 0);
}

TEST(MemoryBudget, IsWhatThisProcessHas) {
  EXPECT_GT(memory_of_process(), 64 << 20);
  setenv("LOCAL_WORLD_SIZE", "4", 1);
  const std::int64_t quarter = memory_of_process();
  unsetenv("LOCAL_WORLD_SIZE");
  EXPECT_EQ(quarter, memory_of_process() / 4);
}

}  // namespace
}  // namespace headrace

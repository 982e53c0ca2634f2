#include <gtest/gtest.h>

#include <cstdlib>

#include "headrace/report.h"

namespace headrace {
namespace {

std::string shown(const std::string& name) {
  const Result<std::vector<Setting>> settings = environment();
  if (!settings.ok()) return settings.status().to_string();
  for (const Setting& setting : *settings) {
    if (setting.name == name) return setting.value + (setting.is_default ? " by default" : "");
  }
  return "not listed";
}

TEST(Settings, DefaultsAndWhatTheEnvironmentSays) {
  EXPECT_EQ(shown("HEADRACE_MEMORY_LIMIT"), "none by default");
  EXPECT_EQ(shown("HEADRACE_STALL_SECONDS"), "30 by default");
  EXPECT_EQ(shown("HEADRACE_CUDA_LIBRARY"), "libcuda.so.1 by default");
  setenv("HEADRACE_THREADS", "3", 1);
  setenv("HEADRACE_MEMORY_LIMIT", "2K", 1);
  setenv("HEADRACE_CPU", "", 1);  // as if it were not set
  EXPECT_EQ(shown("HEADRACE_THREADS"), "3");
  EXPECT_EQ(shown("HEADRACE_MEMORY_LIMIT"), "2048");
  EXPECT_EQ(shown("HEADRACE_CPU"), "auto by default");
  setenv("HEADRACE_THREADS", "0", 1);
  EXPECT_EQ(environment().status().code(), StatusCode::kInvalidArgument);
  for (const char* name : {"HEADRACE_THREADS", "HEADRACE_MEMORY_LIMIT", "HEADRACE_CPU"}) unsetenv(name);
}

}  // namespace
}  // namespace headrace

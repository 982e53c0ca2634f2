#include "shard/remote/renewed.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

using Clock = std::chrono::system_clock;

TEST(Renewed, IsAskedForOnceWhileItLasts) {
  int asked = 0;
  Renewed<int> lasting([&]() -> Result<Expiring<int>> { return Expiring<int>{.value = ++asked}; });
  EXPECT_EQ(*lasting.get({}), 1);
  EXPECT_EQ(*lasting.get({}), 1);
  EXPECT_FALSE(lasting.refused());  // what never expires is not asked for again
  Renewed<int> hourly([&]() -> Result<Expiring<int>> {
    return Expiring<int>{.value = ++asked, .expires = Clock::now() + std::chrono::hours(1)};
  });
  EXPECT_EQ(*hourly.get({}), 2);
  EXPECT_EQ(*hourly.get({}), 2);
}

TEST(Renewed, IsAskedForAgainMinutesBeforeItExpires) {
  int asked = 0;
  Renewed<int> value([&]() -> Result<Expiring<int>> {
    return Expiring<int>{.value = ++asked, .expires = Clock::now() + std::chrono::minutes(4)};
  });
  EXPECT_EQ(*value.get({}), 1);
  EXPECT_EQ(*value.get({}), 2);
}

TEST(Renewed, KeepsTheOldOneWhileItLastsAndTheServiceFails) {
  int asked = 0;
  Renewed<int> value([&]() -> Result<Expiring<int>> {
    if (++asked > 1) return Status(StatusCode::kIo, "away");
    return Expiring<int>{.value = 7, .expires = Clock::now() + std::chrono::minutes(4)};
  });
  EXPECT_EQ(*value.get({}), 7);
  EXPECT_EQ(*value.get({}), 7);
  EXPECT_EQ(asked, 2);
}

TEST(Renewed, AFailureWithoutAnOldOneIsTheAnswer) {
  Renewed<int> value([]() -> Result<Expiring<int>> { return Status(StatusCode::kPermissionDenied, "none"); });
  EXPECT_EQ(value.get({}).status().code(), StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace headrace

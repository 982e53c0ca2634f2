#include "headrace/device.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ParseDevice, TakesTheUsualSpellings) {
  for (const char* name : {"/CPU:3", "CPU:3", "cpu:3", "/cpu:3", "/job:localhost/replica:0/task:0/device:CPU:3"}) {
    const Result<Device> device = parse_device(name);
    ASSERT_TRUE(device.ok()) << name;
    EXPECT_EQ(device->kind, DeviceKind::kHost);
    EXPECT_EQ(device->index, 3);
    EXPECT_EQ(device->name, "/CPU:3");
  }
  for (const char* name : {"/GPU:1", "gpu:1", "cuda:1"}) {
    const Result<Device> device = parse_device(name);
    ASSERT_TRUE(device.ok()) << name;
    EXPECT_EQ(device->kind, DeviceKind::kCuda);
    EXPECT_EQ(device->name, "/GPU:1");
  }
}

TEST(ParseDevice, RefusesTheRest) {
  for (const char* name : {"", "/CPU", "CPU:", "CPU:-1", "CPU:x", "CPU:1x", "TPU:0", ":0"}) {
    const Result<Device> device = parse_device(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(device.status().message().find(std::string("'") + name + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace

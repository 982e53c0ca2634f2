#include "device/cuda_driver.h"

#include <gtest/gtest.h>

#include "fake_cuda/testing.h"

namespace headrace {
namespace {

using testing::FakeCuda;

TEST(CudaDriver, NoLibraryNamesTheWayOut) {
  const auto driver = CudaDriver::load("libno_such_driver.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::kDevice);
  EXPECT_NE(driver.status().message().find("libno_such_driver.so.1"), std::string::npos);
  EXPECT_NE(driver.status().message().find("\"/CPU:0\""), std::string::npos);
}

TEST(CudaDriver, ALibraryWithoutTheEntryPointsIsTooOld) {
  const auto driver = CudaDriver::load("libc.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.status().message().find("libc.so.6 has no cuInit"), std::string::npos) << driver.status().message();
}

TEST(CudaDriver, NoDevice) {
  const FakeCuda cuda({.devices = 0});
  const auto driver = CudaDriver::load(FakeCuda::path());
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.status().message().find("cuInit: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"),
            std::string::npos)
      << driver.status().message();
}

TEST(CudaDriver, IsLoadedOnce) {
  const FakeCuda cuda({.devices = 3});
  const auto driver = cuda.driver();
  EXPECT_EQ(driver, cuda.driver());
  EXPECT_EQ(*driver->devices(), 3);
}

TEST(CudaDriver, FailuresHaveTheDriversNameAndText) {
  const FakeCuda cuda;
  const auto driver = cuda.driver();
  EXPECT_TRUE(driver->check(kCuSuccess, "/GPU:0", "cuMemAllocAsync").ok());
  const Status known = driver->check(kCuOutOfMemory, "/GPU:1", "cuMemAllocAsync");
  EXPECT_EQ(known.code(), StatusCode::kDevice);
  EXPECT_EQ(known.message(), "/GPU:1: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(driver->check(static_cast<CuResult>(4711), "/GPU:1", "cuInit").message(), "/GPU:1: cuInit: error 4711");
}

}  // namespace
}  // namespace headrace

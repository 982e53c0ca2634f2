// Launches of the fake driver's kernels, as a consumer of batches does them.
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "device/cuda_context.h"
#include "fake_cuda/testing.h"

namespace headrace::testing {

inline CuResult launch(const CudaContext& context, CuStream stream, const char* kernel, void** arguments) {
  const CudaContext::Current current(context);
  CuFunction function = nullptr;
  EXPECT_EQ(FakeCuda::function<CuResult(CuFunction*, CuModule, const char*)>("cuModuleGetFunction")(&function, nullptr,
                                                                                                    kernel),
            kCuSuccess);
  using Launch = CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream,
                          void**, void**);
  return FakeCuda::function<Launch>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

/// Queues headrace_sum, which reads `words` from `data` on and writes to `out`.
inline void launch_sum(const CudaContext& context, CuStream stream, CuAddress data, std::uint64_t words,
                       CuAddress out) {
  std::array<void*, 3> arguments{&data, &words, &out};
  EXPECT_EQ(launch(context, stream, "headrace_sum", arguments.data()), kCuSuccess);
}

}  // namespace headrace::testing

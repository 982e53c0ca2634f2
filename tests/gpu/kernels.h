// The kernels of the GPU check, as PTX that the driver compiles for whatever device there is, and further entry points to load
// and launch them. The fake driver has kernels of the same names (tests/fake_cuda/fake_cuda.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/cuda_context.h"

namespace headrace::gpu_check {

class Kernels {
 public:
  /// `library` is the path that the driver was loaded from.
  static Result<std::unique_ptr<Kernels>> load(std::shared_ptr<const CudaContext> context, const std::string& library);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  /// Queues: *out = sum of data[i] * (i + 1) over `words` 64-bit words.
  Status sum(CuStream stream, CuAddress data, std::uint64_t words, CuAddress out) const;
  /// Queues a kernel that lasts so long and does nothing.
  Status spin(CuStream stream, std::uint64_t nanoseconds) const;
  /// Queues a copy back to the host.
  Status read(CuStream stream, void* to, CuAddress from, std::size_t bytes) const;
  /// The device's own name.
  std::string device_name() const;

 private:
  struct Api;
  Kernels(std::shared_ptr<const CudaContext> context, std::unique_ptr<Api> api);
  Status start();
  Status launch(CuFunction kernel, unsigned threads, CuStream stream, void** arguments) const;

  const std::shared_ptr<const CudaContext> context_;
  const std::unique_ptr<Api> api_;
  CuModule module_ = nullptr;
  CuFunction sum_ = nullptr;
  CuFunction spin_ = nullptr;
};

}  // namespace headrace::gpu_check

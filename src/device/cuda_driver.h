// CudaDriver: the CUDA driver of this process, loaded at run time. headrace neither links nor needs CUDA to be built.
//
// One per process and library; it is never unloaded. All calls may be concurrent.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/cuda_api.h"
#include "headrace/status.h"

namespace headrace {

class CudaDriver {
 public:
  /// Loads `path` (a name for the dynamic linker, such as "libcuda.so.1") and initialises it. kDevice when there is no driver, it
  /// is too old, or it finds no device; the text says what to do about it.
  static Result<std::shared_ptr<const CudaDriver>> load(const std::string& path);

  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  const CudaApi& api() const { return api_; }
  /// How many devices the process may use.
  Result<int> devices() const;
  /// Ok of kCuSuccess; else kDevice: "/GPU:0: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  Status check(CuResult result, std::string_view where, const char* function) const;

 private:
  explicit CudaDriver(void* handle) : library_{handle, {}}, api_(library_) {}

  CudaLibrary library_;
  CudaApi api_;
};

}  // namespace headrace

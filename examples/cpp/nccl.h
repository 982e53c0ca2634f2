// Nccl: the sum of one vector of each replica, in all of them, by NCCL over CUDA devices. Both libraries are loaded at run time and
// their functions found by name, so that nothing of CUDA is needed to build.
//
// Each of R threads brings its vector to device r, where NCCL adds them up on the default stream, and takes the sums back. A device
// that fails alone leaves the others waiting in NCCL, as in every program that does not ask ncclCommGetAsyncError.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/headrace.h"

class Nccl {
 public:
  /// For replicas 0 … `replicas` - 1 on as many devices; kDevice, with the reason, where there are no such libraries or too
  /// few devices. Nothing is unloaded: both libraries have threads of their own.
  static headrace::Result<std::unique_ptr<Nccl>> open(const char* nccl, const char* cuda, int replicas,
                                                      std::size_t size) {
    std::unique_ptr<Nccl> made(new Nccl(size));
    HEADRACE_RETURN_IF_ERROR(made->start(nccl, cuda, replicas));
    return made;
  }

  ~Nccl() {
    for (const Replica& replica : replicas_) {
      cuCtxSetCurrent(replica.context);
      if (replica.comm != nullptr) ncclCommDestroy(replica.comm);
      if (replica.memory != 0) cuMemFree(replica.memory);
      cuDevicePrimaryCtxRelease(replica.device);
    }
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Called by all threads, each with its replica and its vector of `size` values; returns when it holds the sums.
  headrace::Status all_reduce(int replica, std::vector<double>* vector) {
    const Replica& self = replicas_[static_cast<std::size_t>(replica)];
    const std::size_t bytes = size_ * sizeof(double);
    auto* memory = reinterpret_cast<void*>(self.memory);
    HEADRACE_RETURN_IF_ERROR(driver("cuCtxSetCurrent", cuCtxSetCurrent(self.context)));
    HEADRACE_RETURN_IF_ERROR(driver("cuMemcpyHtoD", cuMemcpyHtoD(self.memory, vector->data(), bytes)));
    const int code = ncclAllReduce(memory, memory, size_, kFloat64, kSum, self.comm, nullptr);
    if (code != 0) return failed(std::string("ncclAllReduce: ") + ncclGetErrorString(code));
    HEADRACE_RETURN_IF_ERROR(driver("cuStreamSynchronize", cuStreamSynchronize(nullptr)));
    return driver("cuMemcpyDtoH", cuMemcpyDtoH(vector->data(), self.memory, bytes));
  }

 private:
  static constexpr int kFloat64 = 8;  // ncclFloat64
  static constexpr int kSum = 0;      // ncclSum

  struct Replica {
    int device = 0;
    void* context = nullptr;
    std::uintptr_t memory = 0;
    void* comm = nullptr;
  };

  explicit Nccl(std::size_t size) : size_(size) {}

  static headrace::Status failed(const std::string& message) { return {headrace::StatusCode::kDevice, message}; }

  static headrace::Status driver(const char* what, int code) {
    if (code == 0) return {};
    return failed(std::string(what) + ": CUDA error " + std::to_string(code));
  }

  template <class Function>
  static headrace::Status find(void* library, const char* name, Function** function) {
    *function = reinterpret_cast<Function*>(dlsym(library, name));
    if (*function == nullptr) return failed(std::string("there is no function ") + name);
    return {};
  }

  headrace::Status load(const char* nccl, const char* cuda) {
    void* driver_library = dlopen(cuda, RTLD_NOW);
    if (driver_library == nullptr) return failed(dlerror());
    void* library = dlopen(nccl, RTLD_NOW);
    if (library == nullptr) return failed(dlerror());
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuInit", &cuInit));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuDeviceGetCount", &cuDeviceGetCount));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuDeviceGet", &cuDeviceGet));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuDevicePrimaryCtxRelease_v2", &cuDevicePrimaryCtxRelease));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuCtxSetCurrent", &cuCtxSetCurrent));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuMemAlloc_v2", &cuMemAlloc));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuMemFree_v2", &cuMemFree));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuMemcpyHtoD_v2", &cuMemcpyHtoD));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuMemcpyDtoH_v2", &cuMemcpyDtoH));
    HEADRACE_RETURN_IF_ERROR(find(driver_library, "cuStreamSynchronize", &cuStreamSynchronize));
    HEADRACE_RETURN_IF_ERROR(find(library, "ncclCommInitAll", &ncclCommInitAll));
    HEADRACE_RETURN_IF_ERROR(find(library, "ncclCommDestroy", &ncclCommDestroy));
    HEADRACE_RETURN_IF_ERROR(find(library, "ncclGetErrorString", &ncclGetErrorString));
    return find(library, "ncclAllReduce", &ncclAllReduce);
  }

  headrace::Status start(const char* nccl, const char* cuda, int replicas) {
    HEADRACE_RETURN_IF_ERROR(load(nccl, cuda));
    int devices = 0;
    HEADRACE_RETURN_IF_ERROR(driver("cuInit", cuInit(0)));
    HEADRACE_RETURN_IF_ERROR(driver("cuDeviceGetCount", cuDeviceGetCount(&devices)));
    if (devices < replicas) return failed("there are " + std::to_string(devices) + " CUDA devices");
    std::vector<void*> comms(static_cast<std::size_t>(replicas));
    for (int ordinal = 0; ordinal < replicas; ++ordinal) {
      Replica replica;
      HEADRACE_RETURN_IF_ERROR(driver("cuDeviceGet", cuDeviceGet(&replica.device, ordinal)));
      HEADRACE_RETURN_IF_ERROR(
          driver("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&replica.context, replica.device)));
      replicas_.push_back(replica);
      HEADRACE_RETURN_IF_ERROR(driver("cuCtxSetCurrent", cuCtxSetCurrent(replica.context)));
      HEADRACE_RETURN_IF_ERROR(driver("cuMemAlloc", cuMemAlloc(&replicas_.back().memory, size_ * sizeof(double))));
    }
    const int code = ncclCommInitAll(comms.data(), replicas, nullptr);
    if (code != 0) return failed(std::string("ncclCommInitAll: ") + ncclGetErrorString(code));
    for (std::size_t replica = 0; replica < comms.size(); ++replica) replicas_[replica].comm = comms[replica];
    return {};
  }

  const std::size_t size_;
  std::vector<Replica> replicas_;
  int (*cuInit)(unsigned) = nullptr;
  int (*cuDeviceGetCount)(int*) = nullptr;
  int (*cuDeviceGet)(int*, int) = nullptr;
  int (*cuDevicePrimaryCtxRetain)(void**, int) = nullptr;
  int (*cuDevicePrimaryCtxRelease)(int) = nullptr;
  int (*cuCtxSetCurrent)(void*) = nullptr;
  int (*cuMemAlloc)(std::uintptr_t*, std::size_t) = nullptr;
  int (*cuMemFree)(std::uintptr_t) = nullptr;
  int (*cuMemcpyHtoD)(std::uintptr_t, const void*, std::size_t) = nullptr;
  int (*cuMemcpyDtoH)(void*, std::uintptr_t, std::size_t) = nullptr;
  int (*cuStreamSynchronize)(void*) = nullptr;
  int (*ncclCommInitAll)(void**, int, const int*) = nullptr;
  int (*ncclCommDestroy)(void*) = nullptr;
  const char* (*ncclGetErrorString)(int) = nullptr;
  int (*ncclAllReduce)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
};

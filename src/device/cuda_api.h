// The part of the CUDA driver's interface that headrace uses: our own declarations, so that no build needs CUDA, looked up by
// name in a library that was loaded at run time.
//
// Names with _v2 are the versions that cuda.h has selected since CUDA 4.0 (primary context release: 11.0). A CudaFunction is
// called as the C function is and may be called from any thread; what that means for contexts and streams is the driver's.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

// Handles are pointers into the driver; a device is its number, device memory an address that the host must not follow.
using CuDevice = int;
using CuAddress = std::uint64_t;
using CuContext = struct CuContextTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;

/// What the driver's functions return.
enum CuResult : int {
  kCuSuccess = 0,
  kCuInvalidValue = 1,
  kCuOutOfMemory = 2,
  kCuNotInitialized = 3,
  kCuDeinitialized = 4,
  kCuNoDevice = 100,
  kCuInvalidDevice = 101,
  kCuInvalidContext = 201,
  kCuEccUncorrectable = 214,
  kCuInvalidHandle = 400,
  kCuNotFound = 500,
  kCuNotReady = 600,
  kCuIllegalAddress = 700,
  kCuHostMemoryAlreadyRegistered = 712,
  kCuHostMemoryNotRegistered = 713,
  kCuLaunchFailed = 719,
  kCuNotPermitted = 800,
  kCuNotSupported = 801,
};

constexpr unsigned kCuStreamNonBlocking = 1;        // CU_STREAM_NON_BLOCKING: no implicit order with the default stream
constexpr unsigned kCuEventBlockingSync = 1;        // CU_EVENT_BLOCKING_SYNC: who waits sleeps
constexpr unsigned kCuEventDisableTiming = 2;       // CU_EVENT_DISABLE_TIMING
constexpr unsigned kCuMemHostRegisterPortable = 1;  // CU_MEMHOSTREGISTER_PORTABLE: pinned for every context
constexpr int kCuAttributeMemoryPools = 115;        // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED

// Streams that are not handles.
constexpr std::uintptr_t kCuStreamLegacy = 1;
constexpr std::uintptr_t kCuStreamPerThread = 2;  // another one on every thread that names it

/// A loaded library and the names that were asked for in vain.
struct CudaLibrary {
  void* handle = nullptr;
  std::vector<std::string> missing;
};

/// One entry point.
template <class... Arguments>
class CudaFunction {
 public:
  enum class Need { kRequired, kOptional };

  CudaFunction(CudaLibrary& library, const char* name, Need need = Need::kRequired)
      : name_(name), pointer_(reinterpret_cast<Pointer>(::dlsym(library.handle, name))) {
    if (pointer_ == nullptr && need == Need::kRequired) library.missing.emplace_back(name);
  }
  CuResult operator()(Arguments... arguments) const { return pointer_(arguments...); }
  /// False only of an optional one.
  explicit operator bool() const { return pointer_ != nullptr; }
  const char* name() const { return name_; }

 private:
  using Pointer = CuResult (*)(Arguments...);
  const char* name_;
  Pointer pointer_;
};

/// The entry points. Those that are required are there since CUDA 11.2 (driver 460).
struct CudaApi {
  explicit CudaApi(CudaLibrary& from) : library(from) {}

  CudaLibrary& library;
  CudaFunction<unsigned> init{library, "cuInit"};
  CudaFunction<int*> driver_get_version{library, "cuDriverGetVersion"};
  CudaFunction<CuResult, const char**> get_error_name{library, "cuGetErrorName"};
  CudaFunction<CuResult, const char**> get_error_string{library, "cuGetErrorString"};
  CudaFunction<int*> device_get_count{library, "cuDeviceGetCount"};
  CudaFunction<CuDevice*, int> device_get{library, "cuDeviceGet"};
  CudaFunction<int*, int, CuDevice> device_get_attribute{library, "cuDeviceGetAttribute"};
  CudaFunction<CuContext*, CuDevice> primary_context_retain{library, "cuDevicePrimaryCtxRetain"};
  CudaFunction<CuDevice> primary_context_release{library, "cuDevicePrimaryCtxRelease_v2"};
  CudaFunction<CuContext> context_push{library, "cuCtxPushCurrent_v2"};
  CudaFunction<CuContext*> context_pop{library, "cuCtxPopCurrent_v2"};
  CudaFunction<> context_synchronize{library, "cuCtxSynchronize"};
  // Since CUDA 12.5.
  CudaFunction<CuContext, CuEvent> context_record_event{library, "cuCtxRecordEvent",
                                                        CudaFunction<CuContext, CuEvent>::Need::kOptional};
  CudaFunction<CuStream*, unsigned> stream_create{library, "cuStreamCreate"};
  CudaFunction<CuStream> stream_destroy{library, "cuStreamDestroy_v2"};
  CudaFunction<CuStream, CuEvent, unsigned> stream_wait_event{library, "cuStreamWaitEvent"};
  CudaFunction<CuEvent*, unsigned> event_create{library, "cuEventCreate"};
  CudaFunction<CuEvent> event_destroy{library, "cuEventDestroy_v2"};
  CudaFunction<CuEvent, CuStream> event_record{library, "cuEventRecord"};
  CudaFunction<CuEvent> event_query{library, "cuEventQuery"};
  CudaFunction<CuEvent> event_synchronize{library, "cuEventSynchronize"};
  CudaFunction<CuAddress*, std::size_t, CuStream> memory_allocate{library, "cuMemAllocAsync"};
  CudaFunction<CuAddress, CuStream> memory_free{library, "cuMemFreeAsync"};
  CudaFunction<void*, std::size_t, unsigned> host_register{library, "cuMemHostRegister_v2"};
  CudaFunction<void*> host_unregister{library, "cuMemHostUnregister"};
  CudaFunction<CuAddress, const void*, std::size_t, CuStream> copy_to_device{library, "cuMemcpyHtoDAsync_v2"};
};

}  // namespace headrace

// Initialisation, devices, primary contexts and names of errors.
#include <string>

#include "fake_cuda/state.h"

using headrace::CuContext;
using headrace::CuDevice;
using headrace::CuResult;
namespace fake = headrace::fake_cuda;

namespace {

struct Name {
  CuResult result;
  const char* name;
  const char* text;
};

constexpr Name kNames[] = {
    {headrace::kCuSuccess, "CUDA_SUCCESS", "no error"},
    {headrace::kCuInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {headrace::kCuOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {headrace::kCuNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {headrace::kCuEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {headrace::kCuIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {headrace::kCuLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {headrace::kCuNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
};

const Name* find_name(CuResult result) {
  for (const Name& name : kNames) {
    if (name.result == result) return &name;
  }
  return nullptr;
}

}  // namespace

extern "C" {

CuResult cuGetErrorName(CuResult result, const char** name) {
  const Name* const found = find_name(result);
  *name = found != nullptr ? found->name : nullptr;
  return found != nullptr ? headrace::kCuSuccess : headrace::kCuInvalidValue;
}

CuResult cuGetErrorString(CuResult result, const char** text) {
  const Name* const found = find_name(result);
  *text = found != nullptr ? found->text : nullptr;
  return found != nullptr ? headrace::kCuSuccess : headrace::kCuInvalidValue;
}

CuResult cuInit(unsigned /*flags*/) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  if (state.devices.empty() && state.next_address == 0) state.reset({});  // nobody asked for anything special
  if (state.devices.empty()) return headrace::kCuNoDevice;
  state.is_initialized = true;
  return headrace::kCuSuccess;
}

CuResult cuDriverGetVersion(int* version) {
  *version = 12050;
  return headrace::kCuSuccess;
}

CuResult cuDeviceGetCount(int* count) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  *count = static_cast<int>(state.devices.size());
  return headrace::kCuSuccess;
}

CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  if (ordinal < 0 || ordinal >= static_cast<int>(state.devices.size())) return headrace::kCuInvalidDevice;
  *device = ordinal;
  return headrace::kCuSuccess;
}

CuResult cuDeviceGetName(char* name, int size, CuDevice device) {
  const std::string text = "fake device " + std::to_string(device);
  name[text.copy(name, static_cast<std::size_t>(size) - 1)] = '\0';
  return headrace::kCuSuccess;
}

CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice /*device*/) {
  *value = attribute == headrace::kCuAttributeMemoryPools ? 1 : 0;
  return headrace::kCuSuccess;
}

CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  if (!state.is_initialized) return headrace::kCuNotInitialized;
  fake::Device* const found = state.devices[static_cast<std::size_t>(device)].get();
  if (found->lost != headrace::kCuSuccess) return found->lost;
  if (const CuResult failed = state.injected(device, "cuDevicePrimaryCtxRetain"); failed != headrace::kCuSuccess) {
    return failed;
  }
  ++found->retained;
  *context = reinterpret_cast<CuContext>(found);
  return headrace::kCuSuccess;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  fake::Device* const found = state.devices[static_cast<std::size_t>(device)].get();
  if (found->retained == 0) state.violate("cuDevicePrimaryCtxRelease: more often than it was retained");
  --found->retained;
  return headrace::kCuSuccess;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  auto* const device = reinterpret_cast<fake::Device*>(context);
  if (device->retained == 0) {
    state.violate("cuCtxPushCurrent: the primary context was released");
    return headrace::kCuInvalidContext;
  }
  fake::current_contexts().push_back(device);
  return headrace::kCuSuccess;
}

CuResult cuCtxPopCurrent_v2(CuContext* context) {
  std::vector<fake::Device*>& contexts = fake::current_contexts();
  if (contexts.empty()) return headrace::kCuInvalidContext;
  *context = reinterpret_cast<CuContext>(contexts.back());
  contexts.pop_back();
  return headrace::kCuSuccess;
}

}  // extern "C"

#include "device/cuda_context.h"

namespace headrace {

Result<std::shared_ptr<const CudaContext>> CudaContext::open(std::shared_ptr<const CudaDriver> driver,
                                                             const Device& device) {
  const CudaApi& api = driver->api();
  HEADRACE_ASSIGN_OR_RETURN(const int devices, driver->devices());
  if (device.index >= devices) {
    return Status(StatusCode::kDevice, device.name + ": the CUDA driver has " + std::to_string(devices) +
                                           (devices == 1 ? " device" : " devices") +
                                           " for this process (CUDA_VISIBLE_DEVICES may hide others)");
  }
  const auto check = [&driver, &device](CuResult result, const char* function) {
    return driver->check(result, device.name, function);
  };
  CuDevice number = 0;
  HEADRACE_RETURN_IF_ERROR(check(api.device_get(&number, device.index), api.device_get.name()));
  int has_pools = 0;
  HEADRACE_RETURN_IF_ERROR(
      check(api.device_get_attribute(&has_pools, kCuAttributeMemoryPools, number), api.device_get_attribute.name()));
  if (has_pools == 0) {
    return Status(StatusCode::kDevice, device.name + ": the device has no stream-ordered memory pools");
  }
  CuContext handle = nullptr;
  HEADRACE_RETURN_IF_ERROR(check(api.primary_context_retain(&handle, number), api.primary_context_retain.name()));
  return std::shared_ptr<const CudaContext>(new CudaContext(std::move(driver), device, number, handle));
}

// Nobody is left to hear of a failure, and the driver frees the context of a process that ends anyway.
CudaContext::~CudaContext() { static_cast<void>(api().primary_context_release(number_)); }

}  // namespace headrace

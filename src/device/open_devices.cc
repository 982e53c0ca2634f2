#include "device/open_devices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "device/cuda_copier.h"
#include "device/cuda_driver.h"
#include "device/pinned_memory.h"

namespace headrace {

Result<OpenDevices> open_devices(std::span<const Device> devices, const std::string& library, WarningLog* warnings) {
  OpenDevices opened;
  const auto is_cuda = [](const Device& device) { return device.kind == DeviceKind::kCuda; };
  if (std::none_of(devices.begin(), devices.end(), is_cuda)) return opened;
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const CudaDriver> driver, CudaDriver::load(library));
  std::map<int, std::shared_ptr<const CudaContext>> contexts;
  for (const Device& device : devices) {
    DeviceTarget target{device.name, make_host_copier()};
    if (is_cuda(device)) {
      std::shared_ptr<const CudaContext>& context = contexts[device.index];
      if (context == nullptr) {
        HEADRACE_ASSIGN_OR_RETURN(context, CudaContext::open(driver, device));
      }
      HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<CudaMemory> memory, CudaMemory::open(context));
      target.copier = std::make_unique<CudaCopier>(std::move(memory));
      if (opened.staging == nullptr) opened.staging = std::make_shared<PinnedMemory>(context, warnings);
    }
    opened.targets.push_back(std::move(target));
  }
  return opened;
}

}  // namespace headrace

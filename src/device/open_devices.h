// Opens the devices of a pipeline: what its batches are parsed into, and who brings them to each device.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device_feeds.h"
#include "headrace/device.h"
#include "headrace/status.h"
#include "runtime/warnings.h"
#include "tensor/buffer_pool.h"

namespace headrace {

struct OpenDevices {
  std::shared_ptr<HostMemory> staging;  ///< for the parser; null: any memory will do, and `targets` is empty
  std::vector<DeviceTarget> targets;    ///< one per device, in order
};

/// Nothing to do when all devices are the host's; else loads the CUDA driver `library` and opens one context per CUDA device.
/// `warnings` outlives the allocations from `staging`.
Result<OpenDevices> open_devices(std::span<const Device> devices, const std::string& library, WarningLog* warnings);

}  // namespace headrace

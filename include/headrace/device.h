// Device: a place where batches are delivered. Host devices are "/CPU:0", "/CPU:1", …; CUDA devices "/GPU:0", "/GPU:1", …, numbered
// as the CUDA driver does (CUDA_VISIBLE_DEVICES counts).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/status.h"

namespace headrace {

enum class DeviceKind : std::uint8_t { kHost = 1, kCuda };

struct Device {
  DeviceKind kind = DeviceKind::kHost;
  int index = 0;
  std::string name;  ///< canonical: "/CPU:0", "/GPU:1"
};

/// Takes "/CPU:0", "CPU:0", "cpu:0" and the same with GPU or CUDA (PyTorch's word), also behind a "/job:…/device:" prefix as TensorFlow prints it.
Result<Device> parse_device(std::string_view name);

}  // namespace headrace

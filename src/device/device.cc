#include "headrace/device.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace headrace {

Result<Device> parse_device(std::string_view name) {
  const auto refuse = [name] {
    return invalid_argument("device '" + std::string(name) + "' is not like /CPU:0 or /GPU:1");
  };
  std::string_view rest = name;
  if (const auto prefix = rest.rfind("/device:"); prefix != std::string_view::npos) rest.remove_prefix(prefix + 8);
  if (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos) return refuse();
  std::string kind(rest.substr(0, colon));
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::string_view digits = rest.substr(colon + 1);
  Device device;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  if (error != std::errc() || end != digits.data() + digits.size() || device.index < 0) return refuse();
  if (kind == "CPU") {
    device.kind = DeviceKind::kHost;
  } else if (kind == "GPU" || kind == "CUDA") {
    device.kind = DeviceKind::kCuda;
    kind = "GPU";
  } else {
    return refuse();
  }
  device.name = "/" + kind + ":" + std::to_string(device.index);
  return device;
}

}  // namespace headrace

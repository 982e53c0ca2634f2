#include "device/cuda_driver.h"

#include <map>

#include "runtime/mutex.h"

namespace headrace {
namespace {

constexpr const char* kWayOut =
    "; to go on without a GPU, name host devices in prefetch_to_device(), such as \"/CPU:0\", and let the framework "
    "copy";

Status no_driver(const std::string& what) { return {StatusCode::kDevice, what + kWayOut}; }

struct Loaded {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<const CudaDriver>> drivers HEADRACE_GUARDED_BY(mutex);
};

}  // namespace

Result<std::shared_ptr<const CudaDriver>> CudaDriver::load(const std::string& path) {
  static Loaded loaded;
  MutexLock lock(loaded.mutex);
  std::shared_ptr<const CudaDriver>& driver = loaded.drivers[path];
  if (driver == nullptr) {
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const reason = ::dlerror();
      return no_driver("no CUDA driver: " + std::string(reason != nullptr ? reason : path) +
                       "; it comes with NVIDIA's kernel module, in containers with NVIDIA's container toolkit");
    }
    driver.reset(new CudaDriver(handle));
  }
  if (const std::vector<std::string>& missing = driver->library_.missing; !missing.empty()) {
    return no_driver("the CUDA driver " + path + " has no " + missing[0] + ": CUDA 11.2 (driver 460) is the least");
  }
  const Status started = driver->check(driver->api_.init(0), "the CUDA driver " + path, driver->api_.init.name());
  if (!started.ok()) return no_driver(started.message());
  return driver;
}

Result<int> CudaDriver::devices() const {
  int count = 0;
  HEADRACE_RETURN_IF_ERROR(check(api_.device_get_count(&count), "the CUDA driver", api_.device_get_count.name()));
  return count;
}

Status CudaDriver::check(CuResult result, std::string_view where, const char* function) const {
  if (result == kCuSuccess) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  const bool is_known = api_.get_error_name(result, &name) == kCuSuccess && name != nullptr &&
                        api_.get_error_string(result, &text) == kCuSuccess && text != nullptr;
  const std::string what =
      is_known ? std::string(name) + " (" + text + ")" : "error " + std::to_string(static_cast<int>(result));
  return {StatusCode::kDevice, std::string(where) + ": " + function + ": " + what};
}

}  // namespace headrace

#include "fake_cuda/state.h"

#include <sys/mman.h>

namespace headrace::fake_cuda {
namespace {

// Addresses of devices: nobody may touch them, so whoever follows one ends by a segmentation fault.
constexpr std::size_t kAddresses = std::size_t{64} << 30;

}  // namespace

State& state() {
  static State& only = *std::make_unique<State>().release();  // threads of streams may outlive main()
  return only;
}

std::vector<Device*>& current_contexts() {
  static thread_local std::vector<Device*> contexts;
  return contexts;
}

void State::reset(const FakeCudaOptions& wanted) {
  options = wanted;
  totals = {};
  is_initialized = false;
  released = std::make_unique<Done>();
  devices.clear();
  for (int number = 0; number < wanted.devices; ++number) {
    devices.push_back(std::make_unique<Device>());
    devices.back()->number = number;
  }
  allocations.clear();
  failures.clear();
  violations.clear();
  static void* const addresses =
      ::mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  next_address = reinterpret_cast<CuAddress>(addresses);
}

CuResult State::injected(int device, const std::string& function) {
  const auto found = failures.find({device, function});
  if (found == failures.end() || found->second.after-- > 0) return kCuSuccess;
  const Injected failure = found->second;
  failures.erase(found);
  if (failure.is_lost) devices[static_cast<std::size_t>(device)]->lost = failure.result;
  return failure.result;
}

Allocation* State::find(CuAddress address, std::size_t bytes, const char* function, std::size_t* offset) {
  auto found = allocations.upper_bound(address);
  if (found != allocations.begin() && address + bytes <= std::prev(found)->first + std::prev(found)->second.bytes) {
    --found;
    *offset = address - found->first;
    if (!found->second.is_freed) return &found->second;
    violate(std::string(function) + ": use after free");
    return nullptr;
  }
  violate(std::string(function) + ": memory that was never allocated");
  return nullptr;
}

PinnedRange* State::find_pinned(const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::uint8_t*>(data);
  auto found = pinned.upper_bound(first);
  if (found == pinned.begin()) return nullptr;
  --found;
  return first + bytes <= found->first + found->second.bytes ? &found->second : nullptr;
}

Work State::begin(Stream* stream) {
  stream->clock.learn(host);
  const Work work{stream->id(), stream->clock.last(stream->id()) + 1};
  stream->clock.learn(work);
  return work;
}

Call::Call(const char* function) : function_(function), lock_(state().mutex) {
  if (!state().is_initialized) {
    fail(kCuNotInitialized, "called before cuInit");
  } else if (current_contexts().empty()) {
    fail(kCuInvalidContext, "no context is current on this thread");
  } else {
    device_ = current_contexts().back();
    result_ = device_->lost;
    if (ok()) result_ = state().injected(device_->number, function_);
  }
}

CuResult Call::fail(CuResult result, const std::string& violation) {
  state().violate(function_ + ": " + violation);
  result_ = result;
  return result;
}

Stream* Call::stream(CuStream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 0 || number == kCuStreamLegacy) {
    if (!device_->default_stream) {
      device_->default_stream = std::make_unique<Stream>(++state().last_stream, device_->number);
    }
    return device_->default_stream.get();
  }
  const auto found = state().streams.find(handle);
  if (found == state().streams.end()) {
    fail(kCuInvalidHandle, "no such stream");
  } else if (found->second->device() != device_->number) {
    fail(kCuInvalidHandle, "a stream of another context");
  } else {
    return found->second.get();
  }
  return nullptr;
}

Event* Call::event(CuEvent handle) {
  const auto found = state().events.find(handle);
  if (found == state().events.end()) {
    fail(kCuInvalidHandle, "no such event");
  } else if (found->second->device != device_->number) {
    fail(kCuInvalidHandle, "an event of another context");
  } else {
    return found->second.get();
  }
  return nullptr;
}

}  // namespace headrace::fake_cuda

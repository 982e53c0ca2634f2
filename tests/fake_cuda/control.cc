// The functions of fake_cuda.h: what tests set up and ask.
#include <algorithm>

#include "fake_cuda/state.h"

namespace fake = headrace::fake_cuda;

extern "C" {

void fake_cuda_reset(const FakeCudaOptions* options) {
  const std::lock_guard lock(fake::state().mutex);
  fake::state().reset(*options);
}

void fake_cuda_release() { fake::state().released->set(); }

void fake_cuda_fail(int device, const char* function, int after, int result, bool is_lost) {
  const std::lock_guard lock(fake::state().mutex);
  fake::state().failures[{device, function}] = {after, static_cast<headrace::CuResult>(result), is_lost};
}

void fake_cuda_count(FakeCudaCounts* counts) {
  fake::State& state = fake::state();
  const std::lock_guard lock(state.mutex);
  *counts = {};
  for (const auto& device : state.devices) counts->contexts += device->retained;
  counts->streams = static_cast<std::int64_t>(state.streams.size());
  counts->events = static_cast<std::int64_t>(state.events.size());
  counts->allocations = std::count_if(state.allocations.begin(), state.allocations.end(),
                                      [](const auto& entry) { return !entry.second.is_freed; });
  counts->pinned_ranges = static_cast<std::int64_t>(state.pinned.size());
}

void fake_cuda_total(FakeCudaTotals* totals) {
  const std::lock_guard lock(fake::state().mutex);
  *totals = fake::state().totals;
}

std::size_t fake_cuda_memory_in_use(int device) {
  const std::lock_guard lock(fake::state().mutex);
  return fake::state().devices[static_cast<std::size_t>(device)]->bytes_in_use;
}

int fake_cuda_violations(char* text, std::size_t size) {
  const std::lock_guard lock(fake::state().mutex);
  std::string lines;
  for (const std::string& violation : fake::state().violations) lines += violation + "\n";
  text[lines.copy(text, size - 1)] = '\0';
  return static_cast<int>(fake::state().violations.size());
}

bool fake_cuda_read(std::uint64_t address, void* to, std::size_t bytes) {
  const std::lock_guard lock(fake::state().mutex);
  std::size_t offset = 0;
  const fake::Allocation* const found = fake::state().find(address, bytes, "fake_cuda_read", &offset);
  if (found == nullptr) return false;
  found->content->read(offset, to, bytes);
  return true;
}

}  // extern "C"

// Modules and kernels. Whatever module is loaded, it has the two kernels of fake_cuda.h.
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_cuda/state.h"

using headrace::CuAddress;
using headrace::CuFunction;
using headrace::CuModule;
using headrace::CuResult;
using headrace::CuStream;
namespace fake = headrace::fake_cuda;

namespace {

constexpr std::uintptr_t kSum = 1;
constexpr std::uintptr_t kSpin = 2;

std::uint64_t sum(fake::Content* content, std::size_t offset, std::uint64_t words) {
  std::vector<std::uint64_t> data(words);
  content->read(offset, data.data(), 8 * words);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < words; ++i) total += data[i] * (i + 1);
  return total;
}

bool happens(fake::Device* device) {
  const std::lock_guard lock(fake::state().mutex);
  if (device->lost != headrace::kCuSuccess) return false;
  return fake::state().injected(device->number, "kernel") == headrace::kCuSuccess;
}

CuResult launch_sum(fake::Call& call, fake::Stream* stream, CuAddress data, std::uint64_t words, CuAddress out) {
  fake::State& state = fake::state();
  std::size_t data_offset = 0;
  std::size_t out_offset = 0;
  fake::Allocation* const source = state.find(data, 8 * words, "headrace_sum", &data_offset);
  fake::Allocation* const target = state.find(out, 8, "headrace_sum", &out_offset);
  if (source == nullptr || target == nullptr) return headrace::kCuIllegalAddress;
  const fake::Work work = state.begin(stream);
  if (!source->accesses.may_read(stream->clock)) state.violate("headrace_sum: read before it was written");
  if (!target->accesses.may_write(stream->clock)) state.violate("headrace_sum: its result may still be in use");
  source->accesses.read(work);
  target->accesses.wrote(work);
  const std::chrono::duration<double> time(state.options.latency_seconds +
                                           8.0 * static_cast<double>(words) * state.options.copy_seconds_per_byte);
  stream->queue(
      [device = call.device(), from = source->content, to = target->content, data_offset, out_offset, words, time] {
        std::this_thread::sleep_for(time);  // reads at the very end
        if (!happens(device)) return;
        const std::uint64_t total = sum(from.get(), data_offset, words);
        to->write(out_offset, &total, sizeof(total));
      });
  return headrace::kCuSuccess;
}

}  // namespace

extern "C" {

CuResult cuModuleLoadData(CuModule* module, const void* /*image*/) {
  fake::Call call("cuModuleLoadData");
  if (call.ok()) *module = reinterpret_cast<CuModule>(call.device());
  return call.result();
}

CuResult cuModuleUnload(CuModule /*module*/) {
  const fake::Call call("cuModuleUnload");
  return call.result();
}

CuResult cuModuleGetFunction(CuFunction* function, CuModule /*module*/, const char* name) {
  const fake::Call call("cuModuleGetFunction");
  if (!call.ok()) return call.result();
  if (name != std::string_view("headrace_sum") && name != std::string_view("headrace_spin")) {
    return headrace::kCuNotFound;
  }
  *function = reinterpret_cast<CuFunction>(name == std::string_view("headrace_sum") ? kSum : kSpin);
  return headrace::kCuSuccess;
}

CuResult cuLaunchKernel(CuFunction function, unsigned /*grid_x*/, unsigned /*grid_y*/, unsigned /*grid_z*/,
                        unsigned /*block_x*/, unsigned /*block_y*/, unsigned /*block_z*/, unsigned /*shared_bytes*/,
                        CuStream handle, void** arguments, void** /*extra*/) {
  fake::Call call("cuLaunchKernel");
  if (!call.ok()) return call.result();
  fake::Stream* const stream = call.stream(handle);
  if (!call.ok()) return call.result();
  ++fake::state().totals.kernels;
  if (reinterpret_cast<std::uintptr_t>(function) == kSum) {
    return launch_sum(call, stream, *static_cast<CuAddress*>(arguments[0]), *static_cast<std::uint64_t*>(arguments[1]),
                      *static_cast<CuAddress*>(arguments[2]));
  }
  fake::state().begin(stream);
  const std::chrono::nanoseconds time(*static_cast<std::uint64_t*>(arguments[0]));
  stream->queue([time] { std::this_thread::sleep_for(time); });
  return headrace::kCuSuccess;
}

}  // extern "C"

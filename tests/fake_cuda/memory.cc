// Memory of devices, pinned memory of the host, copies between them.
#include <chrono>
#include <memory>
#include <thread>

#include "fake_cuda/state.h"

using headrace::CuAddress;
using headrace::CuResult;
using headrace::CuStream;
namespace fake = headrace::fake_cuda;

namespace {

// Whether the copy that now is at its turn on its stream happens; takes as long as a copy of `bytes`.
bool run_copy(fake::Device* device, std::size_t bytes) {
  const fake::State& state = fake::state();
  const std::lock_guard engine(*device->copy_engine);
  if (state.options.held_device == device->number) state.released->wait();
  std::this_thread::sleep_for(std::chrono::duration<double>(
      state.options.latency_seconds + static_cast<double>(bytes) * state.options.copy_seconds_per_byte));
  const std::lock_guard lock(fake::state().mutex);
  if (device->lost != headrace::kCuSuccess) return false;
  return fake::state().injected(device->number, "copy") == headrace::kCuSuccess;
}

void end_copy(const void* host, std::size_t bytes) {
  const std::lock_guard lock(fake::state().mutex);
  if (fake::PinnedRange* range = fake::state().find_pinned(host, bytes)) --range->copies;
}

}  // namespace

extern "C" {

CuResult cuMemAllocAsync(CuAddress* address, std::size_t bytes, CuStream handle) {
  fake::Call call("cuMemAllocAsync");
  if (!call.ok()) return call.result();
  fake::Stream* const stream = call.stream(handle);
  if (!call.ok()) return call.result();
  fake::State& state = fake::state();
  if (bytes == 0) return headrace::kCuInvalidValue;
  if (call.device()->bytes_in_use + bytes > state.options.memory_bytes) return headrace::kCuOutOfMemory;
  call.device()->bytes_in_use += bytes;
  ++state.totals.allocations;
  *address = state.next_address;
  state.next_address += (bytes + 4095) / 4096 * 4096;
  fake::Allocation& made = state.allocations[*address];
  made = {.device = stream->device(), .bytes = bytes};
  made.content = std::make_shared<fake::Content>(bytes);
  made.accesses.wrote(state.begin(stream));
  return headrace::kCuSuccess;
}

CuResult cuMemFreeAsync(CuAddress address, CuStream handle) {
  fake::Call call("cuMemFreeAsync");
  if (call.device() == nullptr) return call.result();
  fake::Stream* const stream = call.stream(handle);
  if (stream == nullptr) return call.result();
  fake::State& state = fake::state();
  std::size_t offset = 0;
  fake::Allocation* const found = state.find(address, 1, "cuMemFreeAsync", &offset);
  if (found == nullptr) return headrace::kCuInvalidValue;
  if (offset != 0) return call.fail(headrace::kCuInvalidValue, "an address inside of an allocation");
  state.begin(stream);
  if (call.ok() && !found->accesses.may_write(stream->clock)) {
    state.violate("cuMemFreeAsync: the memory may still be in use");
  }
  found->is_freed = true;
  call.device()->bytes_in_use -= found->bytes;
  stream->queue([content = std::move(found->content)]() mutable { content.reset(); });
  return call.result();
}

CuResult cuMemHostRegister_v2(void* data, std::size_t bytes, unsigned flags) {
  fake::Call call("cuMemHostRegister");
  if (!call.ok()) return call.result();
  fake::State& state = fake::state();
  if (state.options.refuses_pinning) return headrace::kCuOutOfMemory;
  const auto* first = static_cast<const std::uint8_t*>(data);
  if (flags != headrace::kCuMemHostRegisterPortable) return call.fail(headrace::kCuInvalidValue, "not portable");
  if (reinterpret_cast<std::uintptr_t>(data) % 4096 != 0 || bytes % 4096 != 0) {
    return call.fail(headrace::kCuInvalidValue, "pages that other memory lies in are pinned too");
  }
  const auto next = state.pinned.lower_bound(first);
  const bool overlaps =
      (next != state.pinned.end() && next->first < first + bytes) ||
      (next != state.pinned.begin() && std::prev(next)->first + std::prev(next)->second.bytes > first);
  if (overlaps) return call.fail(headrace::kCuHostMemoryAlreadyRegistered, "pinned already");
  state.pinned[first] = {.bytes = bytes};
  return headrace::kCuSuccess;
}

CuResult cuMemHostUnregister(void* data) {
  fake::Call call("cuMemHostUnregister");
  if (call.device() == nullptr) return call.result();
  const auto found = fake::state().pinned.find(static_cast<const std::uint8_t*>(data));
  if (found == fake::state().pinned.end()) return call.fail(headrace::kCuHostMemoryNotRegistered, "not pinned");
  if (found->second.copies > 0) fake::state().violate("cuMemHostUnregister: a copy still reads it");
  fake::state().pinned.erase(found);
  return call.result();
}

CuResult cuMemcpyHtoDAsync_v2(CuAddress to, const void* from, std::size_t bytes, CuStream handle) {
  fake::Call call("cuMemcpyHtoDAsync");
  if (!call.ok()) return call.result();
  fake::State& state = fake::state();
  fake::Stream* const stream = call.stream(handle);
  std::size_t offset = 0;
  fake::Allocation* const target = state.find(to, bytes, "cuMemcpyHtoDAsync", &offset);
  if (!call.ok() || target == nullptr) return call.ok() ? headrace::kCuInvalidValue : call.result();
  const fake::Work work = state.begin(stream);
  if (!target->accesses.may_write(stream->clock)) {
    state.violate("cuMemcpyHtoDAsync: the device may still be reading what is overwritten");
  }
  target->accesses.wrote(work);
  ++state.totals.copies;
  state.totals.bytes_copied += static_cast<std::int64_t>(bytes);
  // Of memory that is not pinned the driver takes a copy of its own before the call returns.
  const auto* source = static_cast<const std::uint8_t*>(from);
  fake::PinnedRange* const range = state.find_pinned(from, bytes);
  std::shared_ptr<std::vector<std::uint8_t>> staged;
  if (range != nullptr) {
    ++range->copies;
  } else {
    ++state.totals.unpinned_copies;
    staged = std::make_shared<std::vector<std::uint8_t>>(source, source + bytes);
  }
  stream->queue([device = call.device(), content = target->content, offset, source, bytes, staged] {
    const std::uint8_t* const data = staged ? staged->data() : source;
    if (run_copy(device, bytes)) content->write(offset, data, bytes);
    if (!staged) end_copy(source, bytes);
  });
  return headrace::kCuSuccess;
}

CuResult cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream handle) {
  fake::Call call("cuMemcpyDtoHAsync");
  if (!call.ok()) return call.result();
  fake::State& state = fake::state();
  fake::Stream* const stream = call.stream(handle);
  std::size_t offset = 0;
  fake::Allocation* const source = state.find(from, bytes, "cuMemcpyDtoHAsync", &offset);
  if (!call.ok() || source == nullptr) return call.ok() ? headrace::kCuInvalidValue : call.result();
  const fake::Work work = state.begin(stream);
  if (!source->accesses.may_read(stream->clock)) state.violate("cuMemcpyDtoHAsync: read before it was written");
  source->accesses.read(work);
  stream->queue([device = call.device(), content = source->content, offset, to, bytes] {
    if (run_copy(device, bytes)) content->read(offset, to, bytes);
  });
  return headrace::kCuSuccess;
}

}  // extern "C"

// Streams and events.
#include <memory>

#include "fake_cuda/state.h"

using headrace::CuContext;
using headrace::CuEvent;
using headrace::CuResult;
using headrace::CuStream;
namespace fake = headrace::fake_cuda;

namespace {

// The mark of an event behind all that `stream` has.
void mark(fake::Event* event, fake::Stream* stream) {
  const auto done = std::make_shared<fake::Done>();
  event->clock.learn(stream->clock);
  event->done.push_back(done);
  stream->queue([done] { done->set(); });
}

// The same behind all that the device has.
void mark_all(fake::Event* event, const fake::Device& device) {
  event->clock.learn(device.ended);
  for (const auto& [handle, stream] : fake::state().streams) {
    if (stream->device() == device.number) mark(event, stream.get());
  }
  if (device.default_stream) mark(event, device.default_stream.get());
}

void clear(fake::Event* event) {
  event->is_recorded = true;
  event->clock = fake::state().host;
  event->done.clear();
}

}  // namespace

extern "C" {

CuResult cuStreamCreate(CuStream* handle, unsigned flags) {
  fake::Call call("cuStreamCreate");
  if (!call.ok()) return call.result();
  if (flags != headrace::kCuStreamNonBlocking) {
    return call.fail(headrace::kCuInvalidValue, "a stream that waits for the default stream");
  }
  auto stream = std::make_unique<fake::Stream>(++fake::state().last_stream, call.device()->number);
  *handle = reinterpret_cast<CuStream>(stream.get());
  fake::state().streams[*handle] = std::move(stream);
  return headrace::kCuSuccess;
}

CuResult cuStreamDestroy_v2(CuStream handle) {
  fake::Call call("cuStreamDestroy");
  if (call.device() == nullptr || call.stream(handle) == nullptr) return call.result();
  const std::unique_ptr<fake::Stream> stream = std::move(fake::state().streams[handle]);
  fake::state().streams.erase(handle);
  call.device()->ended.learn(stream->clock);
  call.unlock();  // its last work may need the mutex
  return call.result();
}

CuResult cuStreamWaitEvent(CuStream handle, CuEvent event_handle, unsigned /*flags*/) {
  fake::Call call("cuStreamWaitEvent");
  if (!call.ok()) return call.result();
  fake::Stream* const stream = call.stream(handle);
  const fake::Event* const event = call.event(event_handle);
  if (!call.ok()) return call.result();
  stream->clock.learn(event->clock);
  stream->queue([done = event->done] {
    for (const auto& one : done) one->wait();
  });
  return headrace::kCuSuccess;
}

CuResult cuEventCreate(CuEvent* handle, unsigned /*flags*/) {
  fake::Call call("cuEventCreate");
  if (!call.ok()) return call.result();
  auto event = std::make_unique<fake::Event>();
  event->device = call.device()->number;
  *handle = reinterpret_cast<CuEvent>(event.get());
  fake::state().events[*handle] = std::move(event);
  return headrace::kCuSuccess;
}

CuResult cuEventDestroy_v2(CuEvent handle) {
  fake::Call call("cuEventDestroy");
  if (call.device() == nullptr || call.event(handle) == nullptr) return call.result();
  fake::state().events.erase(handle);
  return call.result();
}

CuResult cuEventRecord(CuEvent handle, CuStream stream_handle) {
  fake::Call call("cuEventRecord");
  if (!call.ok()) return call.result();
  fake::Event* const event = call.event(handle);
  fake::Stream* const stream = call.stream(stream_handle);
  if (!call.ok()) return call.result();
  clear(event);
  mark(event, stream);
  return headrace::kCuSuccess;
}

CuResult cuCtxRecordEvent(CuContext context, CuEvent handle) {
  fake::Call call("cuCtxRecordEvent");
  if (!call.ok()) return call.result();
  fake::Event* const event = call.event(handle);
  if (!call.ok()) return call.result();
  if (!fake::state().options.knows_context_events) return headrace::kCuNotSupported;
  if (reinterpret_cast<fake::Device*>(context) != call.device()) {
    return call.fail(headrace::kCuInvalidHandle, "an event of another context");
  }
  clear(event);
  mark_all(event, *call.device());
  return headrace::kCuSuccess;
}

CuResult cuEventQuery(CuEvent handle) {
  fake::Call call("cuEventQuery");
  if (!call.ok()) return call.result();
  const fake::Event* const event = call.event(handle);
  if (!call.ok()) return call.result();
  for (const auto& done : event->done) {
    if (!done->is_set()) return headrace::kCuNotReady;
  }
  fake::state().host.learn(event->clock);
  return headrace::kCuSuccess;
}

CuResult cuEventSynchronize(CuEvent handle) {
  fake::Call call("cuEventSynchronize");
  if (!call.ok()) return call.result();
  const fake::Event* const event = call.event(handle);
  if (!call.ok()) return call.result();
  const auto waited_for = event->done;
  const fake::Clock clock = event->clock;
  const fake::Device* const device = call.device();
  call.unlock();
  for (const auto& done : waited_for) done->wait();
  const std::lock_guard lock(fake::state().mutex);
  if (device->lost == headrace::kCuSuccess) fake::state().host.learn(clock);
  return device->lost;
}

CuResult cuCtxSynchronize() {
  fake::Call call("cuCtxSynchronize");
  if (!call.ok()) return call.result();
  ++fake::state().totals.context_synchronisations;
  fake::Event all;
  clear(&all);
  mark_all(&all, *call.device());
  const fake::Device* const device = call.device();
  call.unlock();
  for (const auto& done : all.done) done->wait();
  const std::lock_guard lock(fake::state().mutex);
  fake::state().host.learn(all.clock);
  return device->lost;
}

}  // extern "C"

// State of the fake driver: everything that its entry points share, behind one mutex.
//
// An entry point takes a Call, which locks, finds the context that is current on the thread and applies injected failures; it
// goes on only when that is ok. Work that runs on a stream takes the mutex for moments, never while it sleeps.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_api.h"
#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/order.h"
#include "fake_cuda/stream.h"

namespace headrace::fake_cuda {

/// What lies in an allocation. Work that is not ordered, which is a finding, must not be undefined as well.
struct Content {
  explicit Content(std::size_t size) : bytes(size, std::uint8_t{0xDD}) {}
  void write(std::size_t offset, const void* from, std::size_t count) {
    const std::lock_guard lock(mutex);
    std::memcpy(bytes.data() + offset, from, count);
  }
  void read(std::size_t offset, void* to, std::size_t count) {
    const std::lock_guard lock(mutex);
    std::memcpy(to, bytes.data() + offset, count);
  }

  std::mutex mutex;
  std::vector<std::uint8_t> bytes;
};

struct Allocation {
  int device = 0;
  std::size_t bytes = 0;
  bool is_freed = false;
  Accesses accesses;
  std::shared_ptr<Content> content;
};

struct Device {
  int number = 0;
  int retained = 0;
  CuResult lost = kCuSuccess;
  std::size_t bytes_in_use = 0;
  std::unique_ptr<Stream> default_stream;
  Clock ended;                                                               // the work of streams that were destroyed
  std::unique_ptr<std::mutex> copy_engine = std::make_unique<std::mutex>();  // held while a copy runs
};

struct PinnedRange {
  std::size_t bytes = 0;
  int copies = 0;  // that are queued and read it
};

struct Injected {
  int after = 0;
  CuResult result = kCuSuccess;
  bool is_lost = false;
};

class State {
 public:
  void reset(const FakeCudaOptions& wanted);
  void violate(const std::string& text) { violations.push_back(text); }
  /// What an injected failure makes of this call; kCuSuccess when there is none.
  CuResult injected(int device, const std::string& function);
  /// The allocation that has all `bytes` from `address` on; null and a violation when there is none.
  Allocation* find(CuAddress address, std::size_t bytes, const char* function, std::size_t* offset);
  PinnedRange* find_pinned(const void* data, std::size_t bytes);
  /// The next work of `stream`; from then on its clock knows it and what the host knows.
  Work begin(Stream* stream);

  std::mutex mutex;
  FakeCudaOptions options;
  FakeCudaTotals totals{};
  bool is_initialized = false;
  std::unique_ptr<Done> released = std::make_unique<Done>();  // new for each driver
  std::vector<std::unique_ptr<Device>> devices;
  std::map<CuStream, std::unique_ptr<Stream>> streams;
  std::map<CuEvent, std::unique_ptr<Event>> events;
  std::map<CuAddress, Allocation> allocations;  // the freed ones as well: no address is given out twice
  std::map<const std::uint8_t*, PinnedRange> pinned;
  std::map<std::pair<int, std::string>, Injected> failures;
  std::vector<std::string> violations;
  Clock host;
  StreamId last_stream = 0;
  CuAddress next_address = 0;
};

State& state();
/// Contexts that were pushed on this thread, innermost last.
std::vector<Device*>& current_contexts();

class Call {
 public:
  explicit Call(const char* function);
  bool ok() const { return result_ == kCuSuccess; }
  CuResult result() const { return result_; }
  CuResult fail(CuResult result, const std::string& violation);
  /// The stream of the current context; null and a violation for any other.
  Stream* stream(CuStream handle);
  Event* event(CuEvent handle);
  Device* device() { return device_; }
  void unlock() { lock_.unlock(); }

 private:
  const std::string function_;
  std::unique_lock<std::mutex> lock_;
  Device* device_ = nullptr;
  CuResult result_ = kCuSuccess;
};

}  // namespace headrace::fake_cuda

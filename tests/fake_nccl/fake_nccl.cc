// NCCL and the CUDA driver in one library of the host, for examples/cpp/mirrored_train.cc on machines without either: device memory is
// memory of the host, and an all-reduce waits for all ranks and adds up in their order. It fails where the real ones would go
// wrong: a thread without the context of its device, memory that was never allocated, ranks that disagree.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace {

constexpr int kDevices = 8;
constexpr int kInvalid = 1;
constexpr int kInvalidContext = 201;
constexpr int kInvalidUsage = 5;  // of NCCL
constexpr int kFloat64 = 8;
constexpr int kSum = 0;

// What the ranks of one communicator share.
struct Meeting {
  std::mutex mutex;
  std::condition_variable all_came;
  std::vector<double> sums;    // of those who came
  std::vector<double> result;  // of the round before, until all have come again
  bool result_is_right = true;
  std::size_t came = 0;
  std::uint64_t round = 0;
  std::size_t count = 0;
  bool agree = true;
};

struct Comm {
  std::shared_ptr<Meeting> meeting;
  int device;
  std::size_t ranks;
};

std::mutex memory_mutex;
std::map<std::uintptr_t, std::pair<std::size_t, int>> memory;  // address -> (bytes, device)
thread_local int current = -1;

bool is_allocated(std::uintptr_t address, std::size_t bytes, int device) {
  const std::scoped_lock lock(memory_mutex);
  const auto found = memory.find(address);
  return found != memory.end() && found->second.first >= bytes && found->second.second == device;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < kDevices ? 0 : kInvalid;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1);
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void* context) {
  current = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
  return 0;
}
int cuMemAlloc_v2(std::uintptr_t* address, std::size_t bytes) {
  if (current < 0) return kInvalidContext;
  *address = reinterpret_cast<std::uintptr_t>(std::malloc(bytes));
  const std::scoped_lock lock(memory_mutex);
  memory[*address] = {bytes, current};
  return 0;
}
int cuMemFree_v2(std::uintptr_t address) {
  const std::scoped_lock lock(memory_mutex);
  if (memory.erase(address) == 0) return kInvalid;
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int cuMemcpyHtoD_v2(std::uintptr_t to, const void* from, std::size_t bytes) {
  if (!is_allocated(to, bytes, current)) return kInvalid;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uintptr_t from, std::size_t bytes) {
  if (!is_allocated(from, bytes, current)) return kInvalid;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuStreamSynchronize(void*) { return current < 0 ? kInvalidContext : 0; }

int ncclCommInitAll(Comm** comms, int count, const int* devices) {
  auto meeting = std::make_shared<Meeting>();
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    comms[rank] = new Comm{meeting, device, static_cast<std::size_t>(count)};
  }
  return 0;
}
int ncclCommDestroy(Comm* comm) {
  delete comm;
  return 0;
}
const char* ncclGetErrorString(int) { return "the fake NCCL refuses"; }

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, Comm* comm, void*) {
  const std::size_t bytes = count * sizeof(double);
  const bool is_right = current == comm->device && type == kFloat64 && op == kSum &&
                        is_allocated(reinterpret_cast<std::uintptr_t>(from), bytes, current) &&
                        is_allocated(reinterpret_cast<std::uintptr_t>(to), bytes, current);
  Meeting& meeting = *comm->meeting;
  std::unique_lock lock(meeting.mutex);
  if (meeting.came == 0) {
    meeting.sums.assign(count, 0);
    meeting.count = count;
    meeting.agree = true;
  }
  meeting.agree = meeting.agree && is_right && meeting.count == count;
  if (meeting.agree) {
    for (std::size_t i = 0; i < count; ++i) meeting.sums[i] += static_cast<const double*>(from)[i];
  }
  const std::uint64_t round = meeting.round;
  if (++meeting.came == comm->ranks) {
    meeting.came = 0;
    ++meeting.round;
    meeting.result.swap(meeting.sums);
    meeting.result_is_right = meeting.agree;
    meeting.all_came.notify_all();
  } else {
    meeting.all_came.wait(lock, [&] { return meeting.round != round; });
  }
  if (!meeting.result_is_right) return kInvalidUsage;
  std::memcpy(to, meeting.result.data(), bytes);
  return 0;
}

}  // extern "C"

// The fake CUDA driver: a shared library with the driver's entry points (src/device/cuda_api.h) and, for tests, the functions below.
//
// Devices are memory of the host behind addresses that nobody can follow, streams are threads. Copies take time (latency and
// bandwidth), streams run in any order against each other, and everything is checked: an access that is not ordered behind the
// one it needs is found from the order of the calls alone (order.h), so no test depends on who happened to be late.
//
// Kernels by name, whatever module they are asked of:
//   headrace_sum(u64* data, u64 words, u64* out)   *out = sum of data[i] * (i + 1); takes as long as a copy
//   headrace_spin(u64 nanoseconds)
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct FakeCudaOptions {
  int devices = 4;
  double copy_seconds_per_byte = 0;
  int held_device = -1;                             ///< whose copies wait for fake_cuda_release()
  double latency_seconds = 0;                       ///< of every copy and kernel
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of each device
  bool refuses_pinning = false;
  bool knows_context_events = true;  ///< cuCtxRecordEvent
};

/// What is alive. All zero once everything that was opened is closed.
struct FakeCudaCounts {
  std::int64_t contexts;  ///< retained and not released
  std::int64_t streams;
  std::int64_t events;
  std::int64_t allocations;
  std::int64_t pinned_ranges;
};

/// What happened since the last reset.
struct FakeCudaTotals {
  std::int64_t copies;
  std::int64_t bytes_copied;
  std::int64_t unpinned_copies;  ///< of these, from memory that is not pinned
  std::int64_t allocations;
  std::int64_t context_synchronisations;
  std::int64_t kernels;
};

/// A driver as new. Nothing may be alive.
void fake_cuda_reset(const FakeCudaOptions* options);
/// The `after`-th call from now (from 0) of `function` ("cuMemAllocAsync", …; "copy", "kernel": of one that runs on its stream) on
/// `device` fails by `result`; where `is_lost`, every later call on the device fails the same way.
void fake_cuda_fail(int device, const char* function, int after, int result, bool is_lost);
/// The copies of the held device go on.
void fake_cuda_release();
void fake_cuda_count(FakeCudaCounts* counts);
void fake_cuda_total(FakeCudaTotals* totals);
/// Bytes that are allocated on `device`.
std::size_t fake_cuda_memory_in_use(int device);
/// Violations since the last reset, one a line, into `text` (cut to `size` bytes with the 0 at the end); returns their number.
int fake_cuda_violations(char* text, std::size_t size);
/// Reads memory of a device as it is now, for a test that knows that nothing writes it. False where there is none.
bool fake_cuda_read(std::uint64_t address, void* to, std::size_t bytes);

}  // extern "C"

// random_stall(): where a stage may be late. In the `stall` preset it sleeps now and then for up to 2 ms, so that every
// order of threads is met in the tests; in every other build it is nothing.
#pragma once

#if defined(HEADRACE_STALL)
#include <atomic>
#include <chrono>
#include <thread>

#include "base/random.h"
#endif

namespace headrace {

inline void random_stall() {
#if defined(HEADRACE_STALL)
  static std::atomic<std::uint64_t> calls{0};
  const std::uint64_t number = random_u64(0x57A11, calls.fetch_add(1, std::memory_order_relaxed));
  if (number % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds((number >> 8) % 2000));
#endif
}

}  // namespace headrace

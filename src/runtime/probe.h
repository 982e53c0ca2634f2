// StageProbe: the counters of one stage. Relaxed adds from any thread, once per block, batch or wait, never per record.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/clock.h"

namespace headrace {

struct StageProbe {
  std::atomic<std::int64_t> busy_ns{0};
  std::atomic<std::int64_t> starved_ns{0};  ///< waited for input
  std::atomic<std::int64_t> blocked_ns{0};  ///< waited for room downstream
  std::atomic<std::int64_t> records{0};
  std::atomic<std::int64_t> bytes{0};

  void add(std::int64_t record_count, std::int64_t byte_count) {
    records.fetch_add(record_count, std::memory_order_relaxed);
    bytes.fetch_add(byte_count, std::memory_order_relaxed);
  }
};

/// Adds the time of its own life to a counter.
class ProbeTimer {
 public:
  explicit ProbeTimer(std::atomic<std::int64_t>& counter) : counter_(counter), start_ns_(now_ns()) {}
  ~ProbeTimer() { counter_.fetch_add(now_ns() - start_ns_, std::memory_order_relaxed); }
  ProbeTimer(const ProbeTimer&) = delete;
  ProbeTimer& operator=(const ProbeTimer&) = delete;

 private:
  std::atomic<std::int64_t>& counter_;
  const std::int64_t start_ns_;
};

}  // namespace headrace

// InflateProbe: what inflating cost, for one format. Relaxed adds from any thread, once per block.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

/// What one file cost up to now.
struct InflateCost {
  std::int64_t busy_ns = 0;
  std::int64_t file_bytes = 0;    ///< that went in
  std::int64_t bytes = 0;         ///< that came out
  std::int64_t memory_bytes = 0;  ///< that it takes now, beside what came out
};

struct InflateProbe {
  std::atomic<std::int64_t> busy_ns{0};
  std::atomic<std::int64_t> file_bytes{0};
  std::atomic<std::int64_t> bytes{0};

  void add(const InflateCost& before, const InflateCost& after) {
    busy_ns.fetch_add(after.busy_ns - before.busy_ns, std::memory_order_relaxed);
    file_bytes.fetch_add(after.file_bytes - before.file_bytes, std::memory_order_relaxed);
    bytes.fetch_add(after.bytes - before.bytes, std::memory_order_relaxed);
  }
};

}  // namespace headrace

// The spans of all pipelines of the process while somebody records them: which thread worked for which stage from when to when.
//
// Off, a span costs the look at one flag. On, one short lock; a batch has a few spans, a read of a shard one. Of more than
// kMostSpans the last are kept. Recording ends in a child of fork().
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

struct TraceSpan {
  const char* name;       ///< static text, or interned()
  std::int64_t batch;     ///< batch number; -1: of no one batch
  std::int64_t thread;    ///< system thread id
  std::int64_t begin_ns;  ///< clock.h
  std::int64_t end_ns;
  std::int64_t stream = 0;  ///< whose batch it is: the number of a TraceRing
};

constexpr std::size_t kMostSpans = std::size_t{1} << 17;

// The names that say more than a stage's: the consumer in next(), and a copy to a device.
constexpr const char* kWaitSpan = "wait";
constexpr const char* kCopySpan = "copy";

namespace internal {
extern std::atomic<bool> tracing;
void log_span(const TraceSpan& span);
}  // namespace internal

inline bool tracing() { return internal::tracing.load(std::memory_order_relaxed); }

inline void trace_span(const TraceSpan& span) {
  if (tracing()) internal::log_span(span);
}

/// False: somebody records already.
bool start_tracing();
/// What was recorded, in order of the beginnings; ends it.
std::vector<TraceSpan> stop_tracing();

/// The same text for the rest of the process.
const char* interned(const std::string& text);

/// Of the calling thread.
std::int64_t system_thread();

/// The calling thread takes batches to work on them ahead of a consumer: its waits are nobody's.
void work_ahead();
bool works_ahead();

}  // namespace headrace

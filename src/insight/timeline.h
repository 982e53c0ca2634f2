// Timeline: what was recorded, thread by thread, as the trace formats want it: spans of one thread nest, steps of a consumer follow
// each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/trace_log.h"

namespace headrace {

/// What a consumer did with one batch: asked for it, waited, had it until it asked for the next one.
struct TraceStep {
  std::int64_t number = 1;  ///< on its thread, from 1
  std::int64_t begin_ns = 0;
  std::int64_t ready_ns = 0;  ///< the wait ended
  std::int64_t end_ns = 0;
};

struct TraceThread {
  std::int64_t id = 0;
  std::string name;              ///< "consumer", else the stages that it worked for
  std::vector<TraceStep> steps;  ///< of a thread that called next()
  std::vector<TraceSpan> spans;  ///< of stages, in order; none reaches into the next
};

/// How a stage is called in traces.
std::string stage_name(const TraceSpan& span);

/// `spans` in order of their beginnings; `end_ns` is when the recording ended, and with it the last step of each consumer.
std::vector<TraceThread> make_timeline(const std::vector<TraceSpan>& spans, std::int64_t end_ns);

/// How many batches were parsed and not yet taken, from each moment on.
struct ReadyBatches {
  std::int64_t at_ns = 0;
  std::int64_t count = 0;
};
std::vector<ReadyBatches> ready_batches(const std::vector<TraceSpan>& spans);

}  // namespace headrace

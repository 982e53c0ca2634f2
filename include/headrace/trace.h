// Traces: what the stages did when. Of one pipeline at any time, as it keeps its last spans; of all pipelines of the process from
// start_trace() to stop_trace(), with the reads and the steps of the consumers.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/status.h"

namespace headrace {

class Pipeline;

/// Writes the spans of the last batches (cut, parse, deliver; at most 4096 of them) to `path`, for ui.perfetto.dev and
/// chrome://tracing (Chrome's JSON format).
/// kIo naming it when it cannot be written; kCancelled in a child of the process that opened the pipeline.
Status write_trace(const Pipeline& pipeline, const std::string& path);

/// Begins to record all pipelines of the process; the last 131,072 spans are kept. kInvalidArgument while somebody records.
Status start_trace();

/// For who works on batches in a thread of his own, ahead of the consumer: first of all, in that thread, that it does; then a span of
/// what it did, "map NAME", or of the consumer's thread, "wait", with times of std::chrono::steady_clock in nanoseconds.
void trace_works_ahead();
void add_to_trace(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns);

/// One recording in the forms that others read.
struct Trace {
  std::string xspace;      ///< TensorBoard's Profile plugin and xprof: the content of <host>.xplane.pb
  std::string perfetto;    ///< ui.perfetto.dev: native trace packets
  std::string chrome;      ///< Chrome's JSON events, microseconds since 1970, to be merged into a trace of PyTorch
  std::int64_t steps = 0;  ///< batches that consumers got
};

/// Ends the recording; `host` is what the XSpace names as its host. Empty when nobody has begun one.
Trace stop_trace(const std::string& host);

}  // namespace headrace

// Trace: what the stages did when, as a file for ui.perfetto.dev and chrome://tracing (Chrome's JSON format).
#pragma once

#include <string>

#include "headrace/status.h"

namespace headrace {

class Pipeline;

/// Writes the spans of the last batches (cut, parse, deliver; at most 4096 of them) to `path`.
/// kIo naming it when it cannot be written; kCancelled in a child of the process that opened the pipeline.
Status write_trace(const Pipeline& pipeline, const std::string& path);

}  // namespace headrace

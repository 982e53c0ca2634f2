#include "headrace/trace.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "pipeline/pipeline_impl.h"

namespace headrace {

Status write_trace(const Pipeline& pipeline, const std::string& path) {
  HEADRACE_RETURN_IF_ERROR(pipeline.impl()->check_process());
  constexpr double kMicroseconds = 1e-3;
  nlohmann::json events = nlohmann::json::array();
  for (const TraceSpan& span : pipeline.impl()->trace()) {
    events.push_back({{"name", span.name},
                      {"ph", "X"},
                      {"pid", static_cast<std::int64_t>(getpid())},
                      {"tid", span.thread},
                      {"ts", static_cast<double>(span.begin_ns) * kMicroseconds},
                      {"dur", static_cast<double>(span.end_ns - span.begin_ns) * kMicroseconds},
                      {"args", {{"batch", span.batch}}}});
  }
  std::ofstream file(path, std::ios::trunc);
  file << nlohmann::json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump() << '\n';
  file.close();
  if (file) return {};
  Where where;
  where.path = path;
  return {StatusCode::kIo, "cannot write the trace", std::move(where)};
}

}  // namespace headrace

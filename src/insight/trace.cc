#include "headrace/trace.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "insight/perfetto.h"
#include "insight/timeline.h"
#include "insight/xspace.h"
#include "pipeline/pipeline_impl.h"
#include "runtime/clock.h"

namespace headrace {
namespace {

constexpr double kMicroseconds = 1e-3;

nlohmann::json chrome_event(const char* name, std::int64_t thread, std::int64_t begin_ns, std::int64_t end_ns) {
  return {{"name", name},
          {"ph", "X"},
          {"pid", static_cast<std::int64_t>(getpid())},
          {"tid", thread},
          {"ts", static_cast<double>(begin_ns) * kMicroseconds},
          {"dur", static_cast<double>(end_ns - begin_ns) * kMicroseconds}};
}

nlohmann::json chrome_event(const TraceSpan& span, std::int64_t unix_ns) {
  nlohmann::json event = chrome_event(span.name, span.thread, span.begin_ns + unix_ns, span.end_ns + unix_ns);
  if (span.batch >= 0) event["args"] = {{"batch", span.batch}};
  return event;
}

std::string chrome_document(nlohmann::json events) {
  return nlohmann::json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump();
}

std::string chrome_json(const std::vector<TraceThread>& timeline, std::int64_t unix_ns) {
  nlohmann::json events = nlohmann::json::array();
  for (const TraceThread& thread : timeline) {
    for (const TraceStep& step : thread.steps) {
      events.push_back(chrome_event(kWaitSpan, thread.id, step.begin_ns + unix_ns, step.ready_ns + unix_ns));
    }
    for (const TraceSpan& span : thread.spans) events.push_back(chrome_event(span, unix_ns));
  }
  return chrome_document(std::move(events));
}

std::string as_text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

Status write_trace(const Pipeline& pipeline, const std::string& path) {
  HEADRACE_RETURN_IF_ERROR(pipeline.impl()->check_process());
  nlohmann::json events = nlohmann::json::array();
  for (const TraceSpan& span : pipeline.impl()->trace()) events.push_back(chrome_event(span, 0));
  std::ofstream file(path, std::ios::trunc);
  file << chrome_document(std::move(events)) << '\n';
  file.close();
  if (file) return {};
  Where where;
  where.path = path;
  return {StatusCode::kIo, "cannot write the trace", std::move(where)};
}

Status start_trace() {
  return start_tracing() ? Status() : invalid_argument("trace: a recording is under way in this process");
}

void trace_works_ahead() { work_ahead(); }

void add_to_trace(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns) {
  if (tracing()) trace_span({name == kWaitSpan ? kWaitSpan : interned(name), -1, system_thread(), begin_ns, end_ns});
}

Trace stop_trace(const std::string& host) {
  const std::vector<TraceSpan> spans = stop_tracing();
  if (spans.empty()) return {};
  const std::int64_t end_ns = now_ns();
  const std::int64_t unix_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count() -
      end_ns;
  const std::vector<TraceThread> timeline = make_timeline(spans, end_ns);
  Trace trace;
  trace.xspace = as_text(to_xspace(timeline, unix_ns, host));
  trace.perfetto = as_text(to_perfetto(timeline, ready_batches(spans)));
  trace.chrome = chrome_json(timeline, unix_ns);
  for (const TraceThread& thread : timeline) trace.steps += std::ssize(thread.steps);
  return trace;
}

}  // namespace headrace

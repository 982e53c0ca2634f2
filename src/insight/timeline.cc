#include "insight/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace headrace {
namespace {

void add_span(const TraceSpan& span, TraceThread* thread) {
  if (std::string_view(span.name) != kWaitSpan) {
    TraceSpan clear = span;
    // A stage that was measured from outside may begin a little before the one in front of it ends.
    if (!thread->spans.empty()) clear.begin_ns = std::max(clear.begin_ns, thread->spans.back().end_ns);
    if (clear.end_ns > clear.begin_ns) thread->spans.push_back(clear);
    return;
  }
  if (!thread->steps.empty()) thread->steps.back().end_ns = span.begin_ns;
  const auto number = static_cast<std::int64_t>(thread->steps.size()) + 1;
  thread->steps.push_back({number, span.begin_ns, span.end_ns, span.end_ns});
}

std::string stages_of(const TraceThread& thread) {
  std::set<std::string> stages;
  for (const TraceSpan& span : thread.spans) stages.insert(stage_name(span));
  std::string text = "headrace";
  const char* separator = ": ";
  for (const std::string& stage : stages) text += std::exchange(separator, ", ") + stage;
  return text;
}

}  // namespace

std::string stage_name(const TraceSpan& span) { return std::string_view(span.name) == "cut" ? "order" : span.name; }

std::vector<TraceThread> make_timeline(const std::vector<TraceSpan>& spans, std::int64_t end_ns) {
  std::map<std::int64_t, TraceThread> threads;
  for (const TraceSpan& span : spans) add_span(span, &threads[span.thread]);
  std::vector<TraceThread> timeline;
  for (auto& [id, thread] : threads) {
    thread.id = id;
    thread.name = thread.steps.empty() ? stages_of(thread) : "consumer";
    if (!thread.steps.empty()) thread.steps.back().end_ns = std::max(thread.steps.back().ready_ns, end_ns);
    timeline.push_back(std::move(thread));
  }
  return timeline;
}

std::vector<ReadyBatches> ready_batches(const std::vector<TraceSpan>& spans) {
  using Batch = std::pair<std::int64_t, std::int64_t>;  // stream, number
  std::map<Batch, std::int64_t> parsed;                 // when its last task ended
  for (const TraceSpan& span : spans) {
    std::int64_t& end_ns = parsed[{span.stream, span.batch}];
    if (std::string_view(span.name) == "parse") end_ns = std::max(end_ns, span.end_ns);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // when, by how many
  for (const auto& [batch, end_ns] : parsed) {
    if (end_ns > 0) changes.emplace_back(end_ns, 1);
  }
  for (const TraceSpan& span : spans) {
    const bool is_taken = std::string_view(span.name) == "deliver" && parsed[{span.stream, span.batch}] > 0;
    if (is_taken) changes.emplace_back(span.end_ns, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<ReadyBatches> counts;
  std::int64_t count = 0;
  for (const auto& [at_ns, change] : changes) counts.push_back({at_ns, count += change});
  return counts;
}

}  // namespace headrace

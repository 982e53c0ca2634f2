#include "insight/xspace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "insight/proto_writer.h"

namespace headrace {
namespace {

constexpr std::int64_t kPicoseconds = 1000;
// Ids of stages share a space with those of events, which count from 1.
constexpr std::int64_t kFirstStageId = std::int64_t{1} << 40;

// The class of work under which the plugin shows a stage.
const char* category_of(std::string_view stage) {
  if (stage == "read") return "read";
  return stage == kCopySpan ? "enqueue" : "preprocessing";
}

class Plane {
 public:
  ProtoWriter finish() {
    plane_.number(1, 0).text(2, "/host:CPU");
    for (const auto& [name, id] : events_) plane_.message(4, entry(id, ProtoWriter().number(1, id).text(2, name)));
    for (const auto& [name, id] : stats_) plane_.message(5, entry(id, ProtoWriter().number(1, id).text(2, name)));
    return plane_;
  }

  void add(const TraceThread& thread, std::int64_t start_ns, std::int64_t unix_ns) {
    start_ns_ = start_ns;
    line_ = ProtoWriter();
    line_.number(1, thread.id).text(2, thread.name);
    line_.number(3, start_ns + unix_ns);
    for (const TraceStep& step : thread.steps) add_step(step);
    for (const TraceSpan& span : thread.spans) {
      // What a consumer's thread does for a stage lies inside its wait.
      if (thread.steps.empty()) add_stage(span);
    }
    plane_.message(3, line_);
  }

 private:
  static ProtoWriter entry(std::int64_t key, const ProtoWriter& value) {
    return ProtoWriter().number(1, key).message(2, value);
  }
  static std::int64_t id_of(const std::string& name, std::map<std::string, std::int64_t>* ids) {
    return ids->try_emplace(name, static_cast<std::int64_t>(ids->size()) + 1).first->second;
  }
  ProtoWriter number_stat(const std::string& name, std::int64_t value) {
    return ProtoWriter().number(1, id_of(name, &stats_)).number(4, value);
  }
  ProtoWriter text_stat(const std::string& name, std::string_view value) {
    return ProtoWriter().number(1, id_of(name, &stats_)).text(5, value);
  }
  ProtoWriter event(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns) {
    return ProtoWriter()
        .number(1, id_of(name, &events_))
        .number(2, (begin_ns - start_ns_) * kPicoseconds)
        .number(3, (end_ns - begin_ns) * kPicoseconds);
  }

  void add_step(const TraceStep& step) {
    ProtoWriter train = event("train", step.begin_ns, step.end_ns);
    train.message(4, number_stat("step_num", step.number)).message(4, number_stat("_r", 1));
    line_.message(4, train);
    line_.message(4, event("IteratorGetNextOp::DoCompute", step.begin_ns, step.ready_ns));
    if (step.end_ns > step.ready_ns) line_.message(4, event("step", step.ready_ns, step.end_ns));
  }

  void add_stage(const TraceSpan& span) {
    const std::string_view name = span.name;
    const std::string shown = name == kCopySpan ? "MemcpyHToD" : stage_name(span);
    ProtoWriter stage = event(shown, span.begin_ns, span.end_ns);
    stage.message(4, number_stat("_ipl_stage_id", kFirstStageId + id_of(shown, &stages_)));
    stage.message(4, text_stat("_ipl_stage_name", shown));
    stage.message(4, text_stat("_ipl_stage_cat", category_of(name)));
    line_.message(4, stage);
  }

  ProtoWriter plane_;
  ProtoWriter line_;
  std::int64_t start_ns_ = 0;
  std::map<std::string, std::int64_t> events_;
  std::map<std::string, std::int64_t> stats_;
  std::map<std::string, std::int64_t> stages_;
};

}  // namespace

std::vector<std::uint8_t> to_xspace(const std::vector<TraceThread>& timeline, std::int64_t unix_ns,
                                    const std::string& host) {
  std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
  for (const TraceThread& thread : timeline) {
    if (!thread.steps.empty()) start_ns = std::min(start_ns, thread.steps.front().begin_ns);
    if (!thread.spans.empty()) start_ns = std::min(start_ns, thread.spans.front().begin_ns);
  }
  Plane plane;
  for (const TraceThread& thread : timeline) plane.add(thread, start_ns, unix_ns);
  return ProtoWriter().message(1, plane.finish()).text(4, host).bytes();
}

}  // namespace headrace

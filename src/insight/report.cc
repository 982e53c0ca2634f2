#include "headrace/report.h"

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "pipeline/pipeline_impl.h"

namespace headrace {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

}  // namespace

Result<Report> report(const Pipeline& pipeline) {
  HEADRACE_RETURN_IF_ERROR(pipeline.impl()->check_process());
  return pipeline.impl()->report();
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json json;
  json["stages"] = nlohmann::ordered_json::array();
  for (const StageReport& stage : report.stages) {
    json["stages"].push_back({{"name", stage.name},
                              {"busy_seconds", stage.busy_seconds},
                              {"starved_seconds", stage.starved_seconds},
                              {"blocked_seconds", stage.blocked_seconds},
                              {"records", stage.records},
                              {"bytes", stage.bytes}});
  }
  json["transforms"] = nlohmann::ordered_json::array();
  for (const TransformReport& transform : report.transforms) {
    json["transforms"].push_back(
        {{"feature", printable_utf8(transform.feature, kMaxNameBytes)}, {"busy_seconds", transform.busy_seconds}});
  }
  json["warnings"] = report.warnings;
  json["seeds"] = report.seeds;
  json["epoch"] = report.epoch;
  json["batches"] = report.batches;
  json["skipped"] = report.skipped;
  json["skipped_records"] = report.skipped_records;
  json["consumer_wait_seconds"] = report.consumer_wait_seconds;
  json["threads"] = report.threads;
  json["record_bytes"] = report.record_bytes;
  json["batch_bytes"] = report.batch_bytes;
  json["held_by_consumer_bytes"] = report.held_by_consumer_bytes;
  return json.dump();
}

}  // namespace headrace

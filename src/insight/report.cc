#include "headrace/report.h"

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "insight/compression_finding.h"
#include "insight/report_json.h"
#include "pipeline/pipeline_impl.h"

namespace headrace {
namespace {

nlohmann::ordered_json number_or_null(std::int64_t number) {
  return number < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(number);
}

nlohmann::ordered_json region_json(const SkippedRegion& region) {
  const Where& where = region.reason.where();
  nlohmann::ordered_json json;
  json["path"] = printable_utf8(where.path, kMaxPathBytes);
  json["record"] = number_or_null(where.record);
  json["from"] = number_or_null(where.offset);
  json["to"] = number_or_null(region.end);
  json["records"] = number_or_null(region.records);
  json["cause"] = to_string(region.reason.code());
  json["reason"] = region.reason.message();
  json["key"] = nullptr;
  if (!where.key.empty()) json["key"] = printable_utf8(where.key, kMaxNameBytes);
  return json;
}

}  // namespace

std::string to_json(const SkippedRegion& region) { return region_json(region).dump(); }

Result<Report> report(const Pipeline& pipeline) {
  HEADRACE_RETURN_IF_ERROR(pipeline.impl()->check_process());
  Report report = pipeline.impl()->report();
  find_compression(&report);
  return report;
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json json;
  json["stages"] = stages_json(report.stages);
  json["transforms"] = nlohmann::ordered_json::array();
  for (const TransformReport& transform : report.transforms) {
    json["transforms"].push_back(
        {{"feature", printable_utf8(transform.feature, kMaxNameBytes)}, {"busy_seconds", transform.busy_seconds}});
  }
  json["inflate"] = nlohmann::ordered_json::array();
  for (const InflateReport& inflate : report.inflate) {
    json["inflate"].push_back({{"compression", inflate.compression},
                               {"busy_seconds", inflate.busy_seconds},
                               {"file_bytes", inflate.file_bytes},
                               {"bytes", inflate.bytes},
                               {"share", inflate.share},
                               {"gain_zstd", inflate.gain_zstd},
                               {"gain_none", inflate.gain_none}});
  }
  json["warnings"] = report.warnings;
  json["seeds"] = report.seeds;
  json["epoch"] = report.epoch;
  json["batches"] = report.batches;
  json["skipped"] = report.skipped;
  json["skipped_misfits"] = report.skipped_misfits;
  json["skipped_regions"] = nlohmann::ordered_json::array();
  for (const SkippedRegion& region : report.skipped_regions) json["skipped_regions"].push_back(region_json(region));
  json["consumer_wait_seconds"] = report.consumer_wait_seconds;
  json["waits"] = waits_json(report.waits);
  json["replicas"] = replicas_json(report.replicas);
  json["threads"] = report.threads;
  json["io"] = report.io;
  json["route"] = report.route;
  json["record_bytes"] = report.record_bytes;
  json["batch_bytes"] = report.batch_bytes;
  json["held_by_consumer_bytes"] = report.held_by_consumer_bytes;
  return json.dump();
}

}  // namespace headrace

#include "insight/report_json.h"

#include "base/utf8.h"

namespace headrace {

using nlohmann::ordered_json;

ordered_json stages_json(const std::vector<StageReport>& stages) {
  ordered_json json = ordered_json::array();
  for (const StageReport& stage : stages) {
    json.push_back({{"name", printable_utf8(stage.name, kMaxNameBytes)},
                    {"busy_seconds", stage.busy_seconds},
                    {"starved_seconds", stage.starved_seconds},
                    {"blocked_seconds", stage.blocked_seconds},
                    {"records", stage.records},
                    {"bytes", stage.bytes}});
  }
  return json;
}

ordered_json waits_json(const std::vector<WaitReport>& waits) {
  ordered_json json = ordered_json::array();
  for (const WaitReport& wait : waits) json.push_back({{"seconds", wait.seconds}, {"count", wait.count}});
  return json;
}

ordered_json replicas_json(const std::vector<ReplicaReport>& replicas) {
  ordered_json json = ordered_json::array();
  for (const ReplicaReport& replica : replicas) {
    json.push_back({{"batches", replica.batches},
                    {"wait_seconds", replica.wait_seconds},
                    {"waiting_seconds", replica.waiting_seconds}});
  }
  return json;
}

}  // namespace headrace

// The parts that the report of a pipeline and the status of a running one have in common, as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "headrace/report.h"

namespace headrace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxPathBytes = 4096;

nlohmann::ordered_json stages_json(const std::vector<StageReport>& stages);
/// JSON has no infinity: null.
nlohmann::ordered_json waits_json(const std::vector<WaitReport>& waits);
nlohmann::ordered_json replicas_json(const std::vector<ReplicaReport>& replicas);

}  // namespace headrace

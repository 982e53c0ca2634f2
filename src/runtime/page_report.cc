#include "runtime/page_report.h"

#include <algorithm>
#include <limits>

namespace headrace {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

StageReport stage_report(const std::string& name, const StageProbe& probe) {
  return {name,
          seconds(probe.busy_ns.load()),
          seconds(probe.starved_ns.load()),
          seconds(probe.blocked_ns.load()),
          probe.records.load(),
          probe.bytes.load()};
}

std::vector<WaitReport> wait_reports(const WaitHistogram& waits) {
  std::vector<WaitReport> reports;
  for (const std::int64_t limit : wait_limits_ns()) reports.push_back({.seconds = seconds(limit)});
  reports.push_back({.seconds = std::numeric_limits<double>::infinity()});
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].count = waits.counts[i].load();
  return reports;
}

std::vector<ReplicaReport> replica_reports(const StatusWords& words) {
  std::vector<ReplicaReport> reports;
  const auto count = std::clamp<std::int64_t>(words.replicas, 0, StatusWords::kReplicas);
  const std::int64_t now = now_ns();
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    const ReplicaSlot& slot = words.replica[r];
    const std::int64_t since = slot.waiting_since_ns.load();
    reports.push_back({.batches = slot.batches.load(),
                       .wait_seconds = seconds(slot.wait_ns.load()),
                       .waiting_seconds = since == 0 ? 0 : seconds(std::max<std::int64_t>(0, now - since))});
  }
  return reports;
}

}  // namespace headrace

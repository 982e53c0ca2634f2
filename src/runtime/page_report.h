// The counters of a status page as a report has them: of a pipeline of this process, or of a page of another one.
#pragma once

#include <vector>

#include "headrace/report.h"
#include "runtime/status_page.h"

namespace headrace {

StageReport stage_report(const std::string& name, const StageProbe& probe);
std::vector<WaitReport> wait_reports(const WaitHistogram& waits);
std::vector<ReplicaReport> replica_reports(const StatusWords& words);

}  // namespace headrace

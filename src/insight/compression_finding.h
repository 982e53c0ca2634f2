// Whether inflating is what the pipeline is busy with, and what other forms of the same data would cost.
#pragma once

#include "headrace/report.h"

namespace headrace {

/// Fills in the share and the predicted gains of `report->inflate` from the measured times, and adds a warning where they are worth
/// writing the data anew. Pure function.
void find_compression(Report* report);

}  // namespace headrace

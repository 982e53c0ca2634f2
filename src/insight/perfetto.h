// Perfetto: a recording as native trace packets, for ui.perfetto.dev: a track for each thread, a flow for each batch, and how many
// batches were ready as a counter.
#pragma once

#include <cstdint>
#include <vector>

#include "insight/timeline.h"

namespace headrace {

std::vector<std::uint8_t> to_perfetto(const std::vector<TraceThread>& timeline, const std::vector<ReadyBatches>& ready);

}  // namespace headrace

// XSpace: a recording as TensorBoard's Profile plugin and xprof read it (the file *.xplane.pb). What the names mean there:
// docs/design/traces.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/timeline.h"

namespace headrace {

/// `unix_ns` is what has to be added to a span's time to have nanoseconds since 1970.
std::vector<std::uint8_t> to_xspace(const std::vector<TraceThread>& timeline, std::int64_t unix_ns,
                                    const std::string& host);

}  // namespace headrace

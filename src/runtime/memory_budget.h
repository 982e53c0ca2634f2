// How much memory this process may use.
#pragma once

#include <cstdint>

namespace headrace {

/// Bytes of memory of this host, or the smallest limit of a control group of this process where that is less; shared by the
/// worker processes of this host. Read anew at each call.
std::int64_t memory_of_process();

}  // namespace headrace

// What waits for a network asks about the InterruptScope of its thread.
#pragma once

#include <chrono>

#include "headrace/interrupt.h"

namespace headrace {

/// So often a wait asks.
constexpr std::chrono::milliseconds kInterruptInterval{100};

/// True when the host program wants the call on this thread to end.
bool interrupted();

}  // namespace headrace

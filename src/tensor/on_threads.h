// Tasks of one call, on threads that live as long as the call: for the functions that parse what a caller hands over.
#pragma once

#include <functional>

#include "headrace/status.h"

namespace headrace {

/// Ok, or kInvalidArgument: num_threads must be at least 1.
Status check_num_threads(int num_threads);

/// Calls run(0), …, run(tasks - 1), each once, on up to `num_threads` threads, the caller's own among them; returns when all
/// have returned. A thread takes the lowest task that is left. A std::bad_alloc of any run() reaches the caller; where the
/// system has no further thread, fewer do the work.
void run_on_threads(int tasks, int num_threads, const std::function<void(int)>& run);

}  // namespace headrace

// The run-time folder: where the processes of a user leave what others of the same user may look at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// `headrace` in XDG_RUNTIME_DIR, else /tmp/headrace-UID; made if it is not there. Empty when it cannot be had, or when
/// somebody else could write there.
std::string run_folder();

/// When the process began, in a unit of its own; nothing when there is no such process. A number that is given to another
/// process later comes with another start.
std::optional<std::int64_t> process_start(std::int32_t process);

/// Removes the pages of processes that are gone, of this user.
void sweep_run_folder(const std::string& folder);

}  // namespace headrace

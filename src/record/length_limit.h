// How long a record may claim to be before memory is taken for it. Any thread.
//
// In a plain file the rest of the file bounds every claim. A few bytes of a compressed one may claim anything and even hold it, so
// there max_record_bytes has a default: a quarter of the memory budget.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/dataset.h"
#include "headrace/status.h"

namespace headrace {

/// Payload bytes of the longest record that is read from a plain file.
std::uint64_t length_limit(const ReadOptions& options);
/// The same for a stream whose size is not known. The budget is that of the options, else of the environment (kInvalidArgument
/// where that is no number), else all memory that this process may use.
Result<std::uint64_t> stream_length_limit(const ReadOptions& options);
/// Names a limit that one of the above gave, and what to change.
std::string describe_limit(std::uint64_t limit, const ReadOptions& options);

}  // namespace headrace

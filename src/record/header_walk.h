// The index of a file from its headers alone: what stands in the payloads is not read where the file is plain, and not
// checked in any case. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "headrace/dataset.h"
#include "headrace/index.h"

namespace headrace {

/// Told after some MiB how many bytes of the file are behind; a failure ends the walk.
using WalkProgress = std::function<Status(std::uint64_t file_bytes)>;

/// kDataLoss where a header does not hold or the last record is cut: such a file has no index.
Result<RecordIndex> walk_headers(const std::string& path, const ReadOptions& options, const WalkProgress& progress);

}  // namespace headrace

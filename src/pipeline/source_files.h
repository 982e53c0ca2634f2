// The files of a source op, found as its options say. Any thread.
#pragma once

#include <cstdint>

#include "headrace/status.h"
#include "pipeline/op.h"
#include "shard/file_list.h"

namespace headrace {

/// `sharers`: sources of the pipeline, this one included, that share its budget for reading ahead.
Result<ShardList> find_source_files(const SourceOp& source, std::int64_t sharers);

/// Whether all its files are paths of this machine, which is known without looking at them.
bool reads_local_files(const SourceOp& source);

}  // namespace headrace

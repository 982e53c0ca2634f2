// The files of a source op, found as its options say. Any thread.
#pragma once

#include "headrace/status.h"
#include "pipeline/op.h"
#include "shard/file_list.h"

namespace headrace {

Result<ShardList> find_source_files(const SourceOp& source);

/// Bytes that files behind URLs may be read ahead by: a quarter of the pipeline's budget, up to the engine's own limit.
std::int64_t remote_read_ahead(const ReadOptions& options, std::optional<std::int64_t> environment_limit);

}  // namespace headrace

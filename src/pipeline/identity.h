// Identity of a data set: one 128-bit hash over (base name, size) of all shards in order. No directory and no time goes in,
// so that a data set that moved resumes.
#pragma once

#include <string>

#include "shard/file_list.h"

namespace headrace {

/// 32 hex digits.
std::string shards_identity(const ShardList& shards);

}  // namespace headrace

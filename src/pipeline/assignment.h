// Assignment: which records of which shards a pipeline reads, by shard(by="file") and shard(by="range"), and the indexes that
// its steps need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/op.h"
#include "record/shard_indexes.h"
#include "record/shard_part.h"
#include "shard/file_list.h"

namespace headrace {

struct Assignment {
  ShardParts parts;                     ///< in reading order
  std::vector<RecordIndex> indexes;     ///< of the shard of each part; empty when they were not asked for
  std::optional<std::int64_t> records;  ///< of all parts; nothing without indexes, unless each file is one
};

/// Why an open pipeline needs indexes, such as "shuffle(\"global\")"; empty when it does not. `records_are_known`: of an
/// epoch of the source.
std::string needs_indexes(const std::shared_ptr<const Op>& last, bool records_are_known);

/// The shards whose indexes decide what is read: all, or those of this worker's files; none where each file is a record.
std::vector<std::uint32_t> shards_to_index(const std::shared_ptr<const Op>& last, const ShardList& shards);

/// `indexes`: of the shards_to_index(); empty: not known, which is enough without a range and without equal shares of files.
Assignment assign(const std::shared_ptr<const Op>& last, const ShardList& shards, std::vector<RecordIndex> indexes);

}  // namespace headrace

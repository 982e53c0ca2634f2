// Places in a shard, and the part of a shard that one worker reads.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace {

/// A place between two records of a shard.
struct ShardPlace {
  std::uint64_t ordinal = 0;  ///< of the record behind it
  std::uint64_t offset = 0;   ///< of that record's header in the uncompressed stream
};

/// The records of shard `shard` from `first` on, up to and without `end_ordinal`.
struct ShardPart {
  std::uint32_t shard = 0;
  ShardPlace first;
  std::uint64_t end_ordinal = UINT64_MAX;  ///< beyond the last record: to the end of the shard
};
using ShardParts = std::vector<ShardPart>;

}  // namespace headrace

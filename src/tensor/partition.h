// Row partitions of a ragged feature: check one record's partition, and write it as row splits.
//
// Whatever does not describe exactly the values it partitions is a failure: TensorFlow would lose them or give them to the
// next record (SEMANTICS.md section 4). Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headrace/schema.h"
#include "headrace/status.h"

namespace headrace {

/// Rows that value_rowids may claim in one record: an id is one number and must not become gigabytes of row splits.
constexpr std::int64_t kMaxPartitionRows = std::int64_t{1} << 20;

/// The rows that `partition` makes of `inner` values (or rows of the next level), or why it is none. `key` is its key.
Result<std::int64_t> count_partition_rows(PartitionKind kind, const std::string& key,
                                          std::span<const std::int64_t> partition, std::int64_t inner);
/// For several partitions of one record (a feature list): `rows` of all of them together.
Status check_total_rows(PartitionKind kind, const std::string& key, std::int64_t rows);
/// kUniformRowLength: rows of `length` in `inner` rows of the next level.
Result<std::int64_t> count_uniform_rows(const std::string& value_key, std::int64_t length, std::int64_t inner);

/// Writes base + the end of each of the `rows` rows of a checked partition.
void write_partition_ends(PartitionKind kind, std::span<const std::int64_t> partition, std::int64_t rows,
                          std::int64_t inner, std::int64_t base, std::int64_t* ends);

}  // namespace headrace

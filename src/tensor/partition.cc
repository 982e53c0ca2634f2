#include "tensor/partition.h"

#include <string_view>
#include <utility>

namespace headrace {
namespace {

Status bad_partition(const std::string& key, std::string_view kind, const std::string& why, std::int64_t expected,
                     std::int64_t found) {
  Where where;
  where.key = key;
  where.expected = std::to_string(expected);
  where.found = std::to_string(found);
  std::string text = "Arguments to from_" + std::string(kind) + " do not form a valid RaggedTensor: " + why +
                     ", expected " + where.expected + ", found " + where.found;
  return schema_mismatch(std::move(text), std::move(where));
}

Status not_covering(const std::string& key, std::string_view kind, std::int64_t inner, std::int64_t covered) {
  return bad_partition(key, kind, "the partition must cover the values exactly", inner, covered);
}

Status absent(const std::string& key, std::int64_t inner) {
  return bad_partition(key, "partition", "the partition is absent or empty but values are there", 0, inner);
}

// Index of the first value that is below `lowest` or below the one before it; -1 when none is.
std::int64_t first_decrease(std::span<const std::int64_t> values, std::int64_t lowest) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < lowest) return static_cast<std::int64_t>(i);
    lowest = values[i];
  }
  return -1;
}

Status decreasing(const std::string& key, std::string_view kind, std::span<const std::int64_t> values,
                  std::int64_t at) {
  const std::int64_t before = at > 0 ? values[static_cast<std::size_t>(at) - 1] : 0;
  return bad_partition(key, kind, "entry " + std::to_string(at) + " is negative or below the one before it", before,
                       values[static_cast<std::size_t>(at)]);
}

Result<std::int64_t> count_lengths(const std::string& key, std::span<const std::int64_t> lengths, std::int64_t inner) {
  if (lengths.empty() && inner != 0) return absent(key, inner);
  std::int64_t covered = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) return bad_partition(key, "row_lengths", "a negative length", 0, length);
    if (__builtin_add_overflow(covered, length, &covered)) return not_covering(key, "row_lengths", inner, length);
  }
  if (covered != inner) return not_covering(key, "row_lengths", inner, covered);
  return static_cast<std::int64_t>(lengths.size());
}

Result<std::int64_t> count_rowids(const std::string& key, std::span<const std::int64_t> ids, std::int64_t inner) {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (ids.empty() && inner != 0) return absent(key, inner);
  if (count != inner) return bad_partition(key, "value_rowids", "one id for each value", inner, count);
  if (const std::int64_t at = first_decrease(ids, 0); at >= 0) return decreasing(key, "value_rowids", ids, at);
  if (ids.empty()) return std::int64_t{0};
  if (ids.back() >= kMaxPartitionRows) {
    return bad_partition(key, "value_rowids", "the largest row id of one record", kMaxPartitionRows - 1, ids.back());
  }
  return ids.back() + 1;
}

}  // namespace

Result<std::int64_t> count_partition_rows(PartitionKind kind, const std::string& key,
                                          std::span<const std::int64_t> partition, std::int64_t inner) {
  const auto size = static_cast<std::int64_t>(partition.size());
  switch (kind) {
    case PartitionKind::kRowLengths:
      return count_lengths(key, partition, inner);
    case PartitionKind::kValueRowIds:
      return count_rowids(key, partition, inner);
    case PartitionKind::kRowSplits:
      if (size == 0) break;
      if (partition.front() != 0) return bad_partition(key, "row_splits", "the first split", 0, partition.front());
      if (const auto at = first_decrease(partition, 0); at >= 0) return decreasing(key, "row_splits", partition, at);
      if (partition.back() != inner) return not_covering(key, "row_splits", inner, partition.back());
      return size - 1;
    case PartitionKind::kRowStarts:
      if (size == 0) break;
      if (partition.front() != 0) return bad_partition(key, "row_starts", "the first start", 0, partition.front());
      if (const auto at = first_decrease(partition, 0); at >= 0) return decreasing(key, "row_starts", partition, at);
      if (partition.back() > inner) return not_covering(key, "row_starts", inner, partition.back());
      return size;
    case PartitionKind::kRowLimits:
      if (size == 0) break;
      if (const auto at = first_decrease(partition, 0); at >= 0) return decreasing(key, "row_limits", partition, at);
      if (partition.back() != inner) return not_covering(key, "row_limits", inner, partition.back());
      return size;
    case PartitionKind::kUniformRowLength:
      break;
  }
  if (inner != 0) return absent(key, inner);
  return std::int64_t{0};
}

Status check_total_rows(PartitionKind kind, const std::string& key, std::int64_t rows) {
  if (kind != PartitionKind::kValueRowIds || rows <= kMaxPartitionRows) return {};
  return bad_partition(key, "value_rowids", "the rows of one record", kMaxPartitionRows, rows);
}

Result<std::int64_t> count_uniform_rows(const std::string& value_key, std::int64_t length, std::int64_t inner) {
  if (inner % length == 0) return inner / length;
  return bad_partition(value_key, "uniform_row_length", "a multiple of the row length", length, inner);
}

void write_partition_ends(PartitionKind kind, std::span<const std::int64_t> partition, std::int64_t rows,
                          std::int64_t inner, std::int64_t base, std::int64_t* ends) {
  switch (kind) {
    case PartitionKind::kRowSplits:
    case PartitionKind::kRowStarts:
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto next = static_cast<std::size_t>(i + 1);
        ends[i] = base + (next < partition.size() ? partition[next] : inner);
      }
      return;
    case PartitionKind::kRowLimits:
      for (std::int64_t i = 0; i < rows; ++i) ends[i] = base + partition[static_cast<std::size_t>(i)];
      return;
    case PartitionKind::kRowLengths:
      for (std::int64_t i = 0; i < rows; ++i) ends[i] = base += partition[static_cast<std::size_t>(i)];
      return;
    case PartitionKind::kValueRowIds: {
      std::size_t value = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        while (value < partition.size() && partition[value] <= i) ++value;
        ends[i] = base + static_cast<std::int64_t>(value);
      }
      return;
    }
    case PartitionKind::kUniformRowLength:
      for (std::int64_t i = 0; i < rows; ++i) ends[i] = base + (i + 1) * (inner / rows);
      return;
  }
}

}  // namespace headrace

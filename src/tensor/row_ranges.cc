#include "tensor/row_ranges.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr std::int64_t kRowMultiple = 64;

}  // namespace

RowRanges::RowRanges(std::span<const std::int64_t> replica_rows, std::int64_t rows_per_task) {
  const std::int64_t step = rows_per_task < kRowMultiple
                                ? std::max<std::int64_t>(rows_per_task, 1)
                                : (rows_per_task + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  std::int64_t replica_begin = 0;
  std::int64_t next_task_at = 0;
  for (std::size_t replica = 0; replica < replica_rows.size(); ++replica) {
    const std::int64_t replica_end = replica_begin + replica_rows[replica];
    for (std::int64_t row = replica_begin; row < replica_end;) {
      if (row == next_task_at) {
        first_segment_.push_back(segments_.size());
        next_task_at += step;
      }
      const std::int64_t end = std::min(next_task_at, replica_end);
      segments_.push_back({static_cast<int>(replica), row, end, row - replica_begin});
      row = end;
    }
    replica_begin = replica_end;
  }
  first_segment_.push_back(segments_.size());
}

RowRanges RowRanges::of_whole_replicas(std::span<const std::int64_t> replica_rows, std::int64_t rows_per_task) {
  RowRanges ranges;
  std::int64_t begin = 0;
  std::int64_t task_begin = 0;
  for (std::size_t replica = 0; replica < replica_rows.size(); ++replica) {
    const std::int64_t end = begin + replica_rows[replica];
    if (begin == end) continue;
    if (begin == 0 || begin - task_begin >= rows_per_task) {
      ranges.first_segment_.push_back(ranges.segments_.size());
      task_begin = begin;
    }
    ranges.segments_.push_back({static_cast<int>(replica), begin, end, 0});
    begin = end;
  }
  ranges.first_segment_.push_back(ranges.segments_.size());
  return ranges;
}

}  // namespace headrace

// RowRanges: how the rows of a batch are cut into tasks, and each task where a replica ends.
//
// A segment is what one task has of one replica: rows [begin, end) of the batch, which are rows local_begin, … of the
// replica. Segments are in row order. Constant after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace {

struct Segment {
  int replica = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t local_begin = 0;

  std::int64_t rows() const { return end - begin; }
};

class RowRanges {
 public:
  /// From 64 rows on, tasks take multiples of that, so that two never write to one cache line of a scalar column within a
  /// replica that starts the batch. Rows of which fewer are worth a task take too long for that to matter.
  RowRanges(std::span<const std::int64_t> replica_rows, std::int64_t rows_per_task);
  /// Tasks take whole replicas, as many as make `rows_per_task`.
  static RowRanges of_whole_replicas(std::span<const std::int64_t> replica_rows, std::int64_t rows_per_task);

  int tasks() const { return static_cast<int>(first_segment_.size()) - 1; }
  std::span<const Segment> segments() const { return segments_; }
  std::span<const Segment> segments_of(int task) const {
    return std::span<const Segment>(segments_).subspan(first_of(task), first_of(task + 1) - first_of(task));
  }
  /// Index of the task's first segment; first_of(tasks()) is their number.
  std::size_t first_of(int task) const { return first_segment_[static_cast<std::size_t>(task)]; }

 private:
  RowRanges() = default;

  std::vector<Segment> segments_;
  std::vector<std::size_t> first_segment_;  // tasks + 1
};

}  // namespace headrace

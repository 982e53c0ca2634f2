// DenseColumns: the columns whose size is known before parsing, one set of memory per replica; those that tell of the row included.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/batch.h"
#include "tensor/batch_parser.h"
#include "tensor/column_plan.h"
#include "tensor/row_ranges.h"
#include "tensor/slice_layout.h"

namespace headrace {

class DenseColumns {
 public:
  /// kResourceExhausted when a replica's memory cannot be had.
  static Result<DenseColumns> allocate(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows,
                                       BufferPool& pool);

  /// Sets cursors[i] to the segment's first slot of step i.
  void set_cursors(const ColumnPlan& plan, const Segment& segment, std::span<std::uint8_t*> cursors) const;
  /// `_shard`, `_record`, `_index` and `_mask`, as far as the schema asks for them.
  void write_row_columns(const ColumnPlan& plan, const Segment& segment, const ParseInput& input) const;

  /// A dense column of one replica; `part` is that of its steps.
  Column take_column(const std::string& name, const ColumnType& type, int replica, std::size_t part,
                     std::int64_t rows) const;
  void append_row_columns(const ColumnPlan& plan, int replica, std::int64_t rows, std::vector<Column>* columns) const;

 private:
  std::vector<std::vector<PlacedPart>> replicas_;  // dense parts in order, then those that tell of the row
};

}  // namespace headrace

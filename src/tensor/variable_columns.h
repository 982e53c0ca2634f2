// VariableColumns: the columns whose size is known only after phase 1; exact memory per replica, then their shape.
//
// Between allocate() and take_column() the segments may be written at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/batch.h"
#include "tensor/row_ranges.h"
#include "tensor/row_strings.h"
#include "tensor/slice_layout.h"
#include "tensor/variable_writer.h"

namespace headrace {

class VariableColumns {
 public:
  /// `sums` holds what phase 1 counted, segment by segment and slot by slot; it is turned into what lies before each
  /// segment in its replica. Not for what is `written` already. kResourceExhausted when memory cannot be had, or strings do not fit their column.
  Status allocate(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows, const RowRanges& ranges,
                  const RowStrings& written, std::span<NoteSum> sums, BufferPool& pool);

  const VariableMemory& memory(int replica, std::size_t variable) const {
    return replicas_[static_cast<std::size_t>(replica)].memory[variable];
  }
  Column take_column(const ColumnPlan& plan, int replica, std::size_t variable, std::int64_t rows) const;

 private:
  struct Replica {
    std::vector<NoteSum> totals;         // by slot
    std::vector<VariableMemory> memory;  // by variable
    std::vector<PlacedPart> parts;
    std::vector<std::size_t> first_part;  // by variable: values, offsets (bytes), then splits or indices
  };
  /// Memory of a key of a jagged column that is not its first, from that of the key before it.
  static void share_memory(const ColumnPlan& plan, std::size_t variable, std::int64_t rows, Replica* replica);
  Status size_column(const ColumnPlan& plan, std::size_t variable, std::int64_t rows, Replica* replica,
                     std::vector<std::size_t>* part_bytes) const;

  Status size_open_column(const ColumnPlan& plan, std::size_t variable, std::int64_t rows, Replica* replica,
                          std::int64_t* payload) const;

  std::vector<Replica> replicas_;
};

}  // namespace headrace

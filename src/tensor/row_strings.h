// RowStrings: columns with a fixed number of strings a row, written while their rows are parsed, into memory that grows.
//
// For rows that are read when they are parsed: a string goes from the record, still in the cache, to its column, and does not
// wait elsewhere until the sizes of all rows are known. The rows of one replica are written in order, by one task; those of
// several replicas may be at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headrace/batch.h"
#include "tensor/buffer_pool.h"
#include "tensor/note.h"
#include "tensor/variable_memory.h"

namespace headrace {

/// Bytes of strings a row in the batches up to now, by ColumnPlan::variables: how much memory to begin with.
using StringSizes = std::vector<std::atomic<std::int64_t>>;

class RowStrings {
 public:
  /// Without columns.
  RowStrings() = default;
  /// The columns of VariableColumn::is_row_strings. `sizes` outlives it.
  static Result<RowStrings> begin(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows,
                                  StringSizes* sizes, std::shared_ptr<BufferPool> pool);

  bool has(std::size_t variable) const { return !columns_.empty() && !columns_[variable].empty(); }
  /// Writes the strings of the replica's next row. Their notes point nowhere then.
  Status write(const ColumnPlan& plan, int replica, std::span<Note> notes, ParseScratch& scratch);
  /// When all rows are written, once.
  Column take_column(const ColumnPlan& plan, int replica, std::size_t variable, std::int64_t rows);

 private:
  struct Part {
    VariableMemory memory;
    BufferPtr values;
    BufferPtr offsets;
    std::int64_t element = 0;  // the next one
    std::int64_t payload = 0;  // of those before it
    std::int64_t room = 0;     // for payload
  };

  /// Moves what is written to memory with room for `payload` bytes.
  Status reserve(std::int64_t payload, Part* part) const;

  std::shared_ptr<BufferPool> pool_;
  StringSizes* sizes_ = nullptr;
  std::vector<std::vector<Part>> columns_;  // by ColumnPlan::variables and replica; no parts: not one of these columns
};

}  // namespace headrace

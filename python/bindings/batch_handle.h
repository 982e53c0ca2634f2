// SliceHandle and BatchHandle: what headrace._core.Slice and Batch hold.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "column_names.h"
#include "headrace/batch.h"
#include "headrace/schema.h"

namespace headrace::python {

struct SliceHandle {
  std::shared_ptr<const Slice> slice;
  std::shared_ptr<const ColumnNames> names;

  const ColumnNames& column_names() const { return *names; }
  const Column& column(std::size_t place) const { return slice->columns[place]; }
};

/// A global batch. Columns over all replicas are joined when they are first asked for and kept; the GIL guards that.
class BatchHandle {
 public:
  /// `schema` may be null when the records were not parsed.
  BatchHandle(Batch batch, std::shared_ptr<const ColumnNames> names, std::shared_ptr<const Schema> schema);

  const std::vector<std::shared_ptr<const Slice>>& replicas() const { return replicas_; }
  std::int64_t number() const { return number_; }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t global_rows() const { return global_rows_; }
  std::int64_t first_row() const { return first_row_; }
  SliceHandle replica(std::size_t i) const { return {replicas_[i], names_}; }
  const ColumnNames& column_names() const { return *names_; }
  /// The column over all replicas.
  const Column& column(std::size_t place);

 private:
  std::int64_t number_;
  std::int64_t epoch_;
  std::int64_t global_rows_;
  std::int64_t first_row_;
  std::vector<std::shared_ptr<const Slice>> replicas_;
  std::shared_ptr<const ColumnNames> names_;
  std::shared_ptr<const Schema> schema_;
  std::unordered_map<std::size_t, Column> joined_;
};

}  // namespace headrace::python

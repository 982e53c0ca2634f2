// The Python faces of a Column: DenseColumn, BytesColumn, Ragged, Sparse, JaggedColumn. Each shares the column's buffers and
// nothing else of its batch, so that keeping one column does not keep the others' memory.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "headrace/batch.h"
#include "headrace/schema.h"

namespace headrace::python {

/// A dense numeric array.
struct DenseColumn {
  Tensor tensor;
};

/// Byte strings, in the shape of column.values.
struct BytesColumn {
  Column column;
};

/// Ragged dimensions from `depth` inwards; the outer ones are those of an enclosing Ragged.
struct RaggedColumn {
  Column column;
  std::size_t depth = 0;
};

/// Values at indices, in a dense shape of which the rest is empty.
struct SparseColumn {
  Column column;
};

/// The lists of several keys, one key after another.
struct JaggedColumn {
  Column column;
};

/// The Python object of `column`.
nanobind::object column_to_python(const Column& column);
/// The flat values of a ragged column (below its last ragged dimension), of a sparse or of a jagged one: DenseColumn or
/// BytesColumn.
nanobind::object flat_values_to_python(const Column& column);
/// Such as "int64 [3, 2]".
std::string describe(const Tensor& tensor);

/// The columns of one name of all replicas as one: rows one after another. `feature` gives the padding of sequences that
/// are padded to different lengths; it may be null. DeviceError unless all are in host memory.
Column join_columns(std::span<const Column* const> parts, const Feature* feature);
/// kResourceExhausted when `values` do not fit a bytes column: a string of 1 GiB, 4 GiB with the headers.
Status check_bytes_column(std::span<const std::string_view> values);
/// A dense bytes column in new memory whose strings are `values`; they have been checked.
Column make_bytes_column(Shape shape, std::span<const std::string_view> values);

}  // namespace headrace::python

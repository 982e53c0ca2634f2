// For fuzz targets: two columns that must be equal, and the way to say that they are not.
#pragma once

#include <cstdlib>
#include <cstring>

#include "headrace/batch.h"

namespace headrace::fuzz {

/// What a fuzzer reports as a finding.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void require_same(const Tensor& a, const Tensor& b) {
  require(a.dtype == b.dtype && a.shape == b.shape);
  require(a.bytes() == 0 || std::memcmp(a.data, b.data, a.bytes()) == 0);
}

/// Strings are compared by their bytes: headers hold distances that may differ.
inline void require_same(const Column& a, const Column& b) {
  require(a.kind == b.kind && a.row_splits.size() == b.row_splits.size());
  for (std::size_t d = 0; d < a.row_splits.size(); ++d) require_same(a.row_splits[d], b.row_splits[d]);
  if (a.kind == ColumnKind::kSparse) {
    require(a.dense_shape == b.dense_shape);
    require_same(a.indices, b.indices);
  }
  if (a.values.dtype != DType::kBytes) return require_same(a.values, b.values);
  require(b.values.dtype == DType::kBytes && a.values.shape == b.values.shape);
  for (std::int64_t i = 0; i < a.values.elements(); ++i) require(a.bytes_at(i) == b.bytes_at(i));
}

}  // namespace headrace::fuzz

// SliceHandle and BatchHandle: what headrace._core.Slice and Batch hold.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "headrace/batch.h"
#include "headrace/schema.h"

namespace headrace::python {

struct SliceHandle {
  std::shared_ptr<const Slice> slice;
};

/// A global batch. Columns over all replicas are joined when they are first asked for and kept; the GIL guards that.
class BatchHandle {
 public:
  BatchHandle(Batch batch, std::shared_ptr<const Schema> schema);

  const std::vector<std::shared_ptr<const Slice>>& replicas() const { return replicas_; }
  std::int64_t number() const { return number_; }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t global_rows() const { return global_rows_; }
  /// The column over all replicas, or null.
  const Column* find(std::string_view name);

 private:
  std::int64_t number_;
  std::int64_t epoch_;
  std::int64_t global_rows_;
  std::vector<std::shared_ptr<const Slice>> replicas_;
  std::shared_ptr<const Schema> schema_;
  std::unordered_map<std::string, Column> joined_;
};

}  // namespace headrace::python

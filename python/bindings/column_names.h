// ColumnNames: the names of a slice's columns as Python strings, made once for all batches of a pipeline.
//
// Looking a column up is one look into a Python dict with strings that know their hash. Made, used and dropped with the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <span>

#include "headrace/batch.h"

namespace headrace::python {

class ColumnNames {
 public:
  explicit ColumnNames(std::span<const Column> columns);

  /// list[str], in schema order; shared, not to be handed out as it is.
  const nanobind::list& all() const { return names_; }
  /// Place of the column of that name; nothing for an unknown name or another type of key.
  std::optional<std::size_t> find(nanobind::handle key) const;

 private:
  nanobind::list names_;
  nanobind::dict places_;
};

}  // namespace headrace::python

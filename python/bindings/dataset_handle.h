// DatasetHandle: what headrace._core.Dataset holds.
//
// A declared pipeline whose status is ok, as every step raises at once, and the schema it parses by. A value; constant.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "failure.h"
#include "headrace/dataset.h"
#include "headrace/schema.h"

namespace headrace::python {

struct DatasetHandle {
  explicit DatasetHandle(Dataset d) : DatasetHandle(std::move(d), nullptr) {
    if (std::optional<Schema> parsed = dataset.schema()) schema = std::make_shared<const Schema>(std::move(*parsed));
  }
  DatasetHandle(Dataset d, std::shared_ptr<const Schema> s) : dataset(std::move(d)), schema(std::move(s)) {
    raise_if_error(dataset.status());
  }
  Dataset dataset;
  std::shared_ptr<const Schema> schema;  ///< null when the records are not parsed
};

}  // namespace headrace::python

// SliceMaps: the functions of Dataset::map() on the slices of a batch. Any thread; the functions may run for several batches
// at once.
#pragma once

#include <memory>
#include <vector>

#include "headrace/batch.h"
#include "pipeline/op.h"
#include "runtime/status_page.h"

namespace headrace {

class SliceMaps {
 public:
  SliceMaps(const std::shared_ptr<const Op>& last, StatusPage* page);

  bool empty() const { return maps_.empty(); }
  /// In the order of the steps, slice after slice; kInvalidArgument at the first function that does not return 0 or cannot
  /// have one of its columns.
  Status apply(std::vector<Slice>* slices);

 private:
  struct Map {
    MapOptions options;
    StageProbe* probe;
  };
  std::vector<Map> maps_;
};

}  // namespace headrace

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
  /// Those that stand before cache(), or all where there is none: in the order of the steps, slice after slice;
  /// kInvalidArgument at the first function that does not return 0 or cannot have one of its columns.
  Status apply(std::vector<Slice>* slices) { return apply(0, behind_, slices); }
  /// The others.
  Status apply_behind_cache(std::vector<Slice>* slices) { return apply(behind_, maps_.size(), slices); }

 private:
  struct Map {
    MapOptions options;
    const char* stage;  // its name
    StageProbe* probe;
  };
  Status apply(std::size_t first, std::size_t end, std::vector<Slice>* slices);

  std::vector<Map> maps_;
  std::size_t behind_ = 0;  // the first that stands behind cache()
};

}  // namespace headrace

// SliceMaps: the functions of Dataset::map() on the slices of a batch. Any thread; the functions may run for several batches
// at once.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "headrace/batch.h"
#include "pipeline/op.h"
#include "runtime/probe.h"

namespace headrace {

class SliceMaps {
 public:
  explicit SliceMaps(const std::shared_ptr<const Op>& last);

  bool empty() const { return maps_.empty(); }
  /// In the order of the steps, slice after slice; kInvalidArgument at the first function that does not return 0 or cannot
  /// have one of its columns.
  Status apply(std::vector<Slice>* slices);

  struct Map {
    MapOptions options;
    StageProbe probe;
  };
  /// What they cost up to now.
  const std::deque<Map>& maps() const { return maps_; }

 private:
  std::deque<Map> maps_;  // probes cannot be moved
};

}  // namespace headrace

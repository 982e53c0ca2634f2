// SliceCopier: what a feed needs of its device. One thread uses it.
#pragma once

#include <memory>

#include "headrace/batch.h"
#include "headrace/status.h"

namespace headrace {

class SliceCopier {
 public:
  virtual ~SliceCopier() = default;
  /// Starts to bring a slice to the device. What it returns is there once finish() has returned ok for it. A failure is the
  /// device's, and nothing of the slice is under way then.
  virtual Result<Slice> start(Slice slice) = 0;
  /// Waits until the oldest copy that was started and not finished is over, and lets its source go.
  virtual Status finish() = 0;
};

/// For host devices, where slices are already.
std::unique_ptr<SliceCopier> make_host_copier();

}  // namespace headrace

// CudaCopier: copies slices from (pinned) host memory to a CUDA device, one copy for each buffer, on one stream.
//
// Columns of numbers go with everything that belongs to them (splits, indices); columns of strings stay with the host. A source
// is kept until its copy is over.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "device/cuda_memory.h"
#include "device/slice_copier.h"

namespace headrace {

class CudaCopier : public SliceCopier {
 public:
  explicit CudaCopier(std::shared_ptr<CudaMemory> memory);
  /// Waits for what was started.
  ~CudaCopier() override;

  Result<Slice> start(Slice slice) override;
  Status finish() override;

 private:
  struct Copy {
    Slice source;
    CuEvent done = nullptr;
  };

  Result<Slice> queue_copies(const Slice& slice);
  Result<CuEvent> take_event();

  const std::shared_ptr<CudaMemory> memory_;
  const CudaContext& context_;
  std::deque<Copy> copies_;  // oldest first
  std::vector<CuEvent> events_;
};

}  // namespace headrace

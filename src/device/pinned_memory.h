// PinnedMemory: host memory that the copy engines of all CUDA devices read directly. The parser writes batches into it, so they
// are on their way to a device without a further copy on the host.
//
// Where pinning is refused, the memory is ordinary and one warning says so. All calls may be concurrent; free() also after the
// pipeline is gone, allocate() only before.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>

#include "device/cuda_context.h"
#include "runtime/mutex.h"
#include "runtime/warnings.h"
#include "tensor/buffer_pool.h"

namespace headrace {

class PinnedMemory : public HostMemory {
 public:
  PinnedMemory(std::shared_ptr<const CudaContext> context, WarningLog* warnings);

  std::uint8_t* allocate(std::size_t bytes) override HEADRACE_EXCLUDES(mutex_);
  void free(std::uint8_t* data, std::size_t bytes) override HEADRACE_EXCLUDES(mutex_);

 private:
  std::size_t whole_pages(std::size_t bytes) const;

  const std::shared_ptr<const CudaContext> context_;
  const std::size_t page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::shared_ptr<HostMemory> memory_ = system_memory(page_bytes_);
  WarningLog* const warnings_;

  Mutex mutex_;
  std::set<const std::uint8_t*> pinned_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

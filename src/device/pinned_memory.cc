#include "device/pinned_memory.h"

#include <string>
#include <utility>

namespace headrace {
PinnedMemory::PinnedMemory(std::shared_ptr<const CudaContext> context, WarningLog* warnings)
    : context_(std::move(context)), warnings_(warnings) {}

// Pages are pinned whole, so no other memory may share one.
std::size_t PinnedMemory::whole_pages(std::size_t bytes) const {
  return (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
}

std::uint8_t* PinnedMemory::allocate(std::size_t bytes) {
  std::uint8_t* const data = memory_->allocate(whole_pages(bytes));
  if (data == nullptr) return nullptr;
  const Status status = context_->call(context_->api().host_register, static_cast<void*>(data), whole_pages(bytes),
                                       kCuMemHostRegisterPortable);
  if (status.ok()) {
    MutexLock lock(mutex_);
    pinned_.insert(data);
  } else {
    warnings_->add(
        "pinning refused",
        "memory of batches could not be pinned (" + status.message() +
            "): the driver copies each of them once more on the host on its way to the device, and the copy keeps a "
            "thread of the CPU busy; the limit of locked memory (ulimit -l) is the usual reason");
  }
  return data;
}

void PinnedMemory::free(std::uint8_t* data, std::size_t bytes) {
  bool is_pinned = false;
  {
    MutexLock lock(mutex_);
    is_pinned = pinned_.erase(data) > 0;
  }
  // Of a device that is lost the driver has let go already.
  if (is_pinned) static_cast<void>(context_->run(context_->api().host_unregister, static_cast<void*>(data)));
  memory_->free(data, whole_pages(bytes));
}

}  // namespace headrace

#include "tensor/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/pages.h"
#include "runtime/fork.h"
#include "runtime/mutex.h"
#include "tensor/size_class.h"

namespace headrace {
namespace {

// From here on a buffer is made of huge pages where the system has them: a first touch costs 1 fault instead of 512.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// A buffer that lay unused while this many others were handed out goes back to the system.
constexpr std::uint64_t kWindow = 256;

class SystemMemory : public HostMemory {
 public:
  explicit SystemMemory(std::size_t alignment) : alignment_(alignment) {}
  std::uint8_t* allocate(std::size_t bytes) override {
    const bool huge = bytes >= kHugePage;
    std::uint8_t* const memory = allocate_memory(bytes, huge ? kHugePage : alignment_);
    // Advice only: without huge pages the memory is as good, just slower on first touch.
    if (memory != nullptr && huge) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
  }
  void free(std::uint8_t* data, std::size_t bytes) override { free_memory(data, bytes); }

 private:
  const std::size_t alignment_;
};

struct FreeBlock {
  std::uint8_t* data;
  std::uint64_t freed_at;  ///< value of State::acquired
};
using FreeLists = std::array<std::vector<FreeBlock>, kSizeClasses>;

struct Unused {
  std::uint8_t* data;
  std::size_t bytes;
};

}  // namespace

struct BufferPool::State {
  State(std::shared_ptr<HostMemory> from, std::int64_t most_free_bytes)
      : memory(std::move(from)), most_free(most_free_bytes) {}
  ~State() { free_all(free); }

  /// A recycled block of the class, or null.
  std::uint8_t* take(std::size_t size_class) HEADRACE_EXCLUDES(mutex) {
    std::vector<Unused> unused;
    std::uint8_t* data = nullptr;
    {
      MutexLock lock(mutex);
      if (++acquired % kWindow == 0) collect_unused(&unused);
      bytes_in_use += static_cast<std::int64_t>(size_class_bytes(size_class));
      std::vector<FreeBlock>& list = free[size_class];
      if (!list.empty()) {
        data = list.back().data;  // the warmest
        list.pop_back();
        bytes_free -= static_cast<std::int64_t>(size_class_bytes(size_class));
      }
    }
    for (const Unused& block : unused) memory->free(block.data, block.bytes);
    return data;
  }

  void give_back(std::uint8_t* data, std::size_t size_class) HEADRACE_EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      const auto bytes = static_cast<std::int64_t>(size_class_bytes(size_class));
      bytes_in_use -= bytes;
      if (data == nullptr) return;
      if (bytes <= most_free - bytes_free && keep({data, acquired}, size_class)) return;
    }
    memory->free(data, size_class_bytes(size_class));
  }

  // False where there is no memory for its place in the list.
  bool keep(const FreeBlock& block, std::size_t size_class) HEADRACE_REQUIRES(mutex) {
    try {
      free[size_class].push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    bytes_free += static_cast<std::int64_t>(size_class_bytes(size_class));
    return true;
  }

  void free_all(const FreeLists& lists) const {
    for (std::size_t size_class = 0; size_class < kSizeClasses; ++size_class) {
      for (const FreeBlock& block : lists[size_class]) memory->free(block.data, size_class_bytes(size_class));
    }
  }

  void drop_free() HEADRACE_EXCLUDES(mutex) {
    FreeLists dropped;
    {
      MutexLock lock(mutex);
      dropped.swap(free);
      bytes_free = 0;
    }
    free_all(dropped);
  }

  // Lists are stacks, so what was not needed lies at the bottom with the oldest stamps.
  void collect_unused(std::vector<Unused>* unused) HEADRACE_REQUIRES(mutex) {
    const std::uint64_t now = acquired;
    std::size_t blocks = 0;
    for (const std::vector<FreeBlock>& list : free) blocks += list.size();
    unused->reserve(blocks);  // what is on neither list is lost
    for (std::size_t size_class = 0; size_class < kSizeClasses; ++size_class) {
      std::vector<FreeBlock>& list = free[size_class];
      const auto kept = std::find_if(list.begin(), list.end(),
                                     [now](const FreeBlock& block) { return block.freed_at + kWindow > now; });
      for (auto block = list.begin(); block != kept; ++block) {
        unused->push_back({block->data, size_class_bytes(size_class)});
      }
      bytes_free -= static_cast<std::int64_t>(size_class_bytes(size_class)) * (kept - list.begin());
      list.erase(list.begin(), kept);
    }
  }

  const BirthProcess birth;
  const std::shared_ptr<HostMemory> memory;
  const std::int64_t most_free;
  mutable Mutex mutex;
  FreeLists free HEADRACE_GUARDED_BY(mutex);
  std::uint64_t acquired HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t bytes_in_use HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t bytes_free HEADRACE_GUARDED_BY(mutex) = 0;
};

namespace {

/// A Buffer whose end hands its memory back; in a child of the process that made the pool, it stays where it is.
template <class State>
class PooledBuffer : public Buffer {
 public:
  PooledBuffer(std::uint8_t* memory, std::size_t bytes, std::size_t size_class, std::shared_ptr<State> state)
      : Buffer(memory, bytes), size_class_(size_class), state_(std::move(state)) {}
  ~PooledBuffer() {
    if (state_->birth.is_parent()) {
      never_destroy(std::move(state_));
    } else {
      state_->give_back(data(), size_class_);
    }
  }

 private:
  const std::size_t size_class_;
  std::shared_ptr<State> state_;
};

}  // namespace

std::shared_ptr<HostMemory> system_memory(std::size_t alignment) { return std::make_shared<SystemMemory>(alignment); }

BufferPool::BufferPool() : BufferPool(system_memory()) {}

BufferPool::BufferPool(std::shared_ptr<HostMemory> memory)
    : state_(std::make_shared<State>(std::move(memory), std::numeric_limits<std::int64_t>::max())) {}

BufferPool::BufferPool(std::int64_t most_free_bytes)
    : state_(std::make_shared<State>(system_memory(), most_free_bytes)) {}

BufferPtr BufferPool::acquire(std::size_t bytes) {
  const std::size_t size_class = size_class_of(bytes);
  if (size_class >= kSizeClasses) return nullptr;
  std::uint8_t* data = state_->take(size_class);
  if (data == nullptr) data = state_->memory->allocate(size_class_bytes(size_class));
  if (data == nullptr) {
    state_->give_back(nullptr, size_class);
    return nullptr;
  }
  try {
    return std::make_shared<PooledBuffer<State>>(data, bytes, size_class, state_);
  } catch (const std::bad_alloc&) {
    state_->give_back(data, size_class);
    return nullptr;
  }
}

void BufferPool::drop_free() { state_->drop_free(); }

std::int64_t BufferPool::bytes_in_use() const {
  MutexLock lock(state_->mutex);
  return state_->bytes_in_use;
}

std::int64_t BufferPool::bytes_free() const {
  MutexLock lock(state_->mutex);
  return state_->bytes_free;
}

}  // namespace headrace

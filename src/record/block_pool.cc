#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "base/pages.h"
#include "record/block.h"
#include "runtime/fork.h"

namespace headrace {
namespace {

constexpr std::size_t kSmallestClass = 1024;
constexpr std::size_t kAlignment = 64;
// Free blocks above this and a quarter of what is in use go back to the system.
constexpr std::int64_t kKeptFreeBytes = std::int64_t{32} << 20;

// Sizes 1024, 1280, 1536, 1792, 2048, 2560, …: at most a fifth of a block is unused.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};
SizeClass class_of(std::size_t bytes) {
  if (bytes == 0) return {0, 0};  // located blocks
  bytes = std::max(bytes, kSmallestClass);
  const std::size_t octave = std::bit_width(bytes - 1) - 1;  // 2^octave <= bytes - 1 < 2^(octave + 1)
  const std::size_t step = std::size_t{1} << (octave - 2);
  const std::size_t quarter = (bytes - 1 - (std::size_t{1} << octave)) / step + 1;  // 1 … 4
  return {4 * octave + quarter, (std::size_t{1} << octave) + quarter * step};
}
constexpr std::size_t kClasses = 4 * 40;

struct PooledBlock : RecordBlock {
  std::size_t size_class = 0;
  // Neighbours in the list of its class while it is free, else in that of the blocks that are out. Lists through the blocks
  // themselves need no memory when a block comes back, which happens in destructors.
  PooledBlock* next = nullptr;
  PooledBlock* previous = nullptr;
  ~PooledBlock() { free_memory(data, capacity + kBlockPadding); }
};

/// The owner of the blocks in it.
class BlockList {
 public:
  BlockList() = default;
  ~BlockList() { clear(); }
  BlockList(const BlockList&) = delete;
  BlockList& operator=(const BlockList&) = delete;

  void clear() {
    while (first_ != nullptr) delete take(first_);  // NOLINT(cppcoreguidelines-owning-memory)
  }
  PooledBlock* first() const { return first_; }
  void add(PooledBlock* block) {
    block->previous = nullptr;
    block->next = first_;
    if (first_ != nullptr) first_->previous = block;
    first_ = block;
  }
  PooledBlock* take(PooledBlock* block) {
    if (block->next != nullptr) block->next->previous = block->previous;
    (block->previous != nullptr ? block->previous->next : first_) = block->next;
    return block;
  }

 private:
  PooledBlock* first_ = nullptr;
};

}  // namespace

struct BlockPool::State {
  mutable Mutex mutex;
  std::array<BlockList, kClasses> free HEADRACE_GUARDED_BY(mutex);
  BlockList out HEADRACE_GUARDED_BY(mutex);
  bool recycles HEADRACE_GUARDED_BY(mutex) = true;
  std::int64_t budget HEADRACE_GUARDED_BY(mutex) = 0;  // 0 = none
  std::int64_t largest HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t largest_beside HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t used_bytes HEADRACE_GUARDED_BY(mutex) = 0;  // held ones included
  std::int64_t held_bytes HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t free_bytes HEADRACE_GUARDED_BY(mutex) = 0;

  /// Releases `released` records and marks `held` more as a consumer's; negative: fewer.
  void change(RecordBlock* block, std::uint32_t released, std::int64_t held) HEADRACE_REQUIRES(mutex) {
    if (!recycles) return;
    const auto bytes = static_cast<std::int64_t>(block->capacity);
    const auto is_held = [block] { return block->live > 0 && block->held == block->live; };
    if (is_held()) held_bytes -= bytes;
    block->live -= released;
    block->held = static_cast<std::uint32_t>(block->held + held);
    if (is_held()) held_bytes += bytes;
    if (block->live == 0) recycle(block);
  }

  bool exceeds_budget(std::int64_t more) const HEADRACE_REQUIRES(mutex) {
    return budget > 0 && used_bytes - held_bytes + free_bytes + more > budget;
  }

  void drop_free() HEADRACE_REQUIRES(mutex) {
    for (BlockList& list : free) list.clear();
    free_bytes = 0;
  }

  void recycle(RecordBlock* block) HEADRACE_REQUIRES(mutex) {
    PooledBlock* const pooled = out.take(static_cast<PooledBlock*>(block));
    const auto bytes = static_cast<std::int64_t>(pooled->capacity);
    used_bytes -= bytes;
    if (free_bytes + bytes > kKeptFreeBytes + used_bytes / 4 || exceeds_budget(bytes)) {
      delete pooled;  // NOLINT(cppcoreguidelines-owning-memory): the pool is the owner behind the raw pointers
      return;
    }
    free_bytes += bytes;
    free[pooled->size_class].add(pooled);
  }
};

class BlockPool::Pin : public RecordPin {
 public:
  Pin(std::shared_ptr<State> state, std::vector<RecordRun> runs) : state_(std::move(state)), runs_(std::move(runs)) {}
  ~Pin() override {
    if (fork_generation() != fork_generation_) return;  // the lock may be held by a thread that is not here
    MutexLock lock(state_->mutex);
    for (const RecordRun& run : runs_) {
      state_->change(run.block, run.count, is_handed_over_ ? -static_cast<std::int64_t>(run.count) : 0);
    }
  }
  void add(std::span<const RecordRun> runs) override { runs_.insert(runs_.end(), runs.begin(), runs.end()); }
  void hand_over() override {
    MutexLock lock(state_->mutex);
    is_handed_over_ = true;
    for (const RecordRun& run : runs_) state_->change(run.block, 0, run.count);
  }

 private:
  const std::shared_ptr<State> state_;
  std::vector<RecordRun> runs_;
  const std::uint64_t fork_generation_ = headrace::fork_generation();
  bool is_handed_over_ = false;  // guarded by the state's mutex
};

BlockPool::BlockPool() : state_(std::make_shared<State>()) {}

BlockPool::~BlockPool() = default;

RecordBlock* BlockPool::acquire(std::size_t bytes) {
  const SizeClass wanted = class_of(bytes);
  if (wanted.index >= kClasses) return nullptr;
  {
    MutexLock lock(state_->mutex);
    BlockList& list = state_->free[wanted.index];
    if (list.first() != nullptr) {
      PooledBlock* block = list.take(list.first());  // the last one given back is the warmest
      state_->out.add(block);
      state_->free_bytes -= static_cast<std::int64_t>(wanted.bytes);
      state_->used_bytes += static_cast<std::int64_t>(wanted.bytes);
      block->records.clear();
      return block;
    }
    if (state_->exceeds_budget(static_cast<std::int64_t>(wanted.bytes))) state_->drop_free();
  }
  auto block = std::unique_ptr<PooledBlock>(new (std::nothrow) PooledBlock);
  if (block == nullptr) return nullptr;
  block->size_class = wanted.index;
  block->capacity = wanted.bytes;
  if (wanted.bytes > 0) {
    block->data = allocate_memory(wanted.bytes + kBlockPadding, kAlignment);
    if (block->data == nullptr) return nullptr;
  }
  MutexLock lock(state_->mutex);
  state_->used_bytes += static_cast<std::int64_t>(wanted.bytes);
  state_->largest = std::max(state_->largest, static_cast<std::int64_t>(wanted.bytes));
  state_->out.add(block.get());
  return block.release();
}

void BlockPool::publish(RecordBlock* block) {
  if (block->records.empty()) return discard(block);
  MutexLock lock(state_->mutex);
  block->live = static_cast<std::uint32_t>(block->records.size());
}

void BlockPool::release(std::span<const RecordRun> runs) {
  MutexLock lock(state_->mutex);
  for (const RecordRun& run : runs) state_->change(run.block, run.count, 0);
}

std::shared_ptr<RecordPin> BlockPool::pin(std::vector<RecordRun> runs) {
  return std::make_shared<Pin>(state_, std::move(runs));
}

void BlockPool::discard(RecordBlock* block) {
  MutexLock lock(state_->mutex);
  if (state_->recycles) state_->recycle(block);
}

void BlockPool::set_budget(std::int64_t bytes) {
  MutexLock lock(state_->mutex);
  state_->budget = bytes;
  if (state_->exceeds_budget(0)) state_->drop_free();
}

std::int64_t BlockPool::budget() const {
  MutexLock lock(state_->mutex);
  return state_->budget;
}

bool BlockPool::has_room() const {
  MutexLock lock(state_->mutex);
  return state_->budget == 0 || state_->used_bytes - state_->held_bytes < state_->budget;
}

std::int64_t BlockPool::largest_bytes() const {
  MutexLock lock(state_->mutex);
  return state_->largest;
}

void BlockPool::stop_recycling() {
  MutexLock lock(state_->mutex);
  state_->recycles = false;
}

std::int64_t BlockPool::largest_beside() const {
  MutexLock lock(state_->mutex);
  return state_->largest_beside;
}

void BlockPool::count_beside(std::int64_t bytes) {
  MutexLock lock(state_->mutex);
  state_->used_bytes += bytes;
  state_->largest_beside = std::max(state_->largest_beside, bytes);
}

std::int64_t BlockPool::bytes_in_use() const {
  MutexLock lock(state_->mutex);
  return state_->used_bytes - state_->held_bytes;
}

std::int64_t BlockPool::bytes_held() const {
  MutexLock lock(state_->mutex);
  return state_->held_bytes;
}

std::int64_t BlockPool::bytes_free() const {
  MutexLock lock(state_->mutex);
  return state_->free_bytes;
}

}  // namespace headrace

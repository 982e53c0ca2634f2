#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "record/block.h"

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
  ~PooledBlock() { std::free(data); }
};

}  // namespace

struct BlockPool::State {
  mutable Mutex mutex;
  std::vector<std::vector<PooledBlock*>> free HEADRACE_GUARDED_BY(mutex) =
      std::vector<std::vector<PooledBlock*>>(kClasses);
  std::int64_t used_bytes HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t free_bytes HEADRACE_GUARDED_BY(mutex) = 0;

  void recycle(RecordBlock* block) HEADRACE_REQUIRES(mutex) {
    auto* pooled = static_cast<PooledBlock*>(block);
    const auto bytes = static_cast<std::int64_t>(pooled->capacity);
    used_bytes -= bytes;
    if (free_bytes + bytes > kKeptFreeBytes + used_bytes / 4) {
      delete pooled;  // NOLINT(cppcoreguidelines-owning-memory): the pool is the owner behind the raw pointers
      return;
    }
    free_bytes += bytes;
    free[pooled->size_class].push_back(pooled);
  }
};

BlockPool::BlockPool() : state_(std::make_unique<State>()) {}

BlockPool::~BlockPool() {
  MutexLock lock(state_->mutex);
  for (const auto& list : state_->free) {
    for (PooledBlock* block : list) delete block;  // NOLINT(cppcoreguidelines-owning-memory)
  }
}

RecordBlock* BlockPool::acquire(std::size_t bytes) {
  const SizeClass wanted = class_of(bytes);
  if (wanted.index >= kClasses) return nullptr;
  {
    MutexLock lock(state_->mutex);
    auto& list = state_->free[wanted.index];
    if (!list.empty()) {
      PooledBlock* block = list.back();  // the last one given back is the warmest
      list.pop_back();
      state_->free_bytes -= static_cast<std::int64_t>(wanted.bytes);
      state_->used_bytes += static_cast<std::int64_t>(wanted.bytes);
      block->records.clear();
      return block;
    }
    state_->used_bytes += static_cast<std::int64_t>(wanted.bytes);
  }
  auto block = std::unique_ptr<PooledBlock>(new (std::nothrow) PooledBlock);
  if (block != nullptr) {
    block->size_class = wanted.index;
    if (wanted.bytes == 0) return block.release();
    const std::size_t room = (wanted.bytes + kBlockPadding + kAlignment - 1) / kAlignment * kAlignment;
    block->data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, room));
    block->capacity = wanted.bytes;
    if (block->data != nullptr) return block.release();
  }
  MutexLock lock(state_->mutex);
  state_->used_bytes -= static_cast<std::int64_t>(wanted.bytes);
  return nullptr;
}

void BlockPool::publish(RecordBlock* block) {
  if (block->records.empty()) return discard(block);
  MutexLock lock(state_->mutex);
  block->live = static_cast<std::uint32_t>(block->records.size());
}

void BlockPool::release(std::span<const RecordRun> runs) {
  MutexLock lock(state_->mutex);
  for (const RecordRun& run : runs) {
    run.block->live -= run.count;
    if (run.block->live == 0) state_->recycle(run.block);
  }
}

void BlockPool::discard(RecordBlock* block) {
  MutexLock lock(state_->mutex);
  state_->recycle(block);
}

std::int64_t BlockPool::bytes_in_use() const {
  MutexLock lock(state_->mutex);
  return state_->used_bytes;
}

std::int64_t BlockPool::bytes_free() const {
  MutexLock lock(state_->mutex);
  return state_->free_bytes;
}

}  // namespace headrace

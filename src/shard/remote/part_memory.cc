#include "shard/remote/part_memory.h"

#include <sys/mman.h>

#include <new>

namespace headrace {

void UnmapMemory::operator()(std::uint8_t* data) const { ::munmap(data, bytes); }

PartMemory::Piece PartMemory::take(std::size_t bytes, bool is_needed) {
  std::vector<Piece> dropped;
  {
    MutexLock lock(mutex_);
    if (!is_needed && used_ + bytes > budget_) return {};
    const auto fits = [bytes](const Piece& piece) { return piece.capacity >= bytes && piece.capacity / 2 <= bytes; };
    const auto found = std::find_if(free_.begin(), free_.end(), fits);
    if (found != free_.end()) {
      Piece piece = std::move(*found);
      free_.erase(found);
      free_bytes_ -= piece.capacity;
      used_ += piece.capacity;
      return piece;
    }
    used_ += bytes;
    while (!free_.empty() && used_ + free_bytes_ > budget_) {
      free_bytes_ -= free_.back().capacity;
      dropped.push_back(std::move(free_.back()));
      free_.pop_back();
    }
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) memory = nullptr;
  return {std::unique_ptr<std::uint8_t[], UnmapMemory>(static_cast<std::uint8_t*>(memory), UnmapMemory{bytes}), bytes};
}

void PartMemory::give(Piece piece) {
  MutexLock lock(mutex_);
  used_ -= piece.capacity;
  if (piece.data == nullptr || used_ + free_bytes_ + piece.capacity > budget_) return;
  const std::size_t capacity = piece.capacity;
  try {
    free_.push_back(std::move(piece));
    free_bytes_ += capacity;
  } catch (const std::bad_alloc&) {
    // No memory for its place in the list: it goes back to the system.
  }
}

}  // namespace headrace

#include "support/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> first_failing{0};
std::atomic<std::int64_t> behind_failing{0};

void* counted(std::size_t bytes) {
  const std::int64_t number = allocations.fetch_add(1, std::memory_order_relaxed);
  if (number >= first_failing.load(std::memory_order_relaxed) &&
      number < behind_failing.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  live.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}

void uncounted(void* memory) {
  if (memory == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

void* counted_or_throw(std::size_t bytes) {
  void* memory = counted(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace headrace::testing {

std::int64_t allocation_count() { return allocations.load(); }

std::int64_t live_allocations() { return live.load(); }

void fail_allocations(std::int64_t first, std::int64_t count) {
  behind_failing = 0;
  first_failing = allocations.load() + first;
  behind_failing = first_failing + count;
}

}  // namespace headrace::testing

#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace headrace {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t page_bytes() {
  static const auto kBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

}  // namespace

std::uint8_t* allocate_memory(std::size_t bytes, std::size_t alignment) {
  if (bytes < kMappedBytes) {
    return static_cast<std::uint8_t*>(std::aligned_alloc(alignment, round_up(bytes, alignment)));
  }
  // The alignment is made by mapping more and giving the ends back.
  const std::size_t wanted = round_up(bytes, page_bytes());
  const std::size_t spare = alignment > page_bytes() ? alignment : 0;
  void* const mapped = ::mmap(nullptr, wanted + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::uint8_t*>(mapped);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before > 0) ::munmap(begin, before);
  if (spare > before) ::munmap(begin + before + wanted, spare - before);
  return begin + before;
}

void free_memory(std::uint8_t* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  if (bytes < kMappedBytes) {
    std::free(memory);
  } else {
    ::munmap(memory, round_up(bytes, page_bytes()));
  }
}

}  // namespace headrace

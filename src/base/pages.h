// Large pieces of memory straight from the system. What is given back is gone from the process at once, whereas the allocator
// keeps pieces of up to 32 MiB for a use that may never come: a pool that frees memory means it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// From this size on memory is mapped; a pool recycles it, so that the system call and the first touch of its pages are rare.
constexpr std::size_t kMappedBytes = std::size_t{1} << 20;

/// At least `bytes`, aligned to `alignment` (a power of two): mapped, or the allocator's where that is smaller than
/// kMappedBytes; null when there is none. Any thread.
std::uint8_t* allocate_memory(std::size_t bytes, std::size_t alignment);
/// What allocate_memory() gave for the same `bytes`; null is nothing. Any thread.
void free_memory(std::uint8_t* memory, std::size_t bytes);

}  // namespace headrace

// allocation_count(): heap allocations of this test program so far, by all threads. fail_allocations(): some of those to come
// fail. A program that calls one of them gets operators new and delete that count; the library itself never replaces them.
#pragma once

#include <cstdint>

namespace headrace::testing {

std::int64_t allocation_count();
/// Of these, the ones that are not freed.
std::int64_t live_allocations();

/// Of the allocations from now on, by all threads, those with the numbers `first` (0 is the next one) to `first + count - 1`
/// fail. With a count of 0, none.
void fail_allocations(std::int64_t first, std::int64_t count);

}  // namespace headrace::testing

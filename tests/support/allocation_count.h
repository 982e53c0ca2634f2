// allocation_count(): heap allocations of this test program so far, by all threads. A program that calls it gets operators
// new and delete that count; the library itself never replaces them.
#pragma once

#include <cstdint>

namespace headrace::testing {

std::int64_t allocation_count();

}  // namespace headrace::testing

// fork_generation(): how many forks lie between the first process and this one. Handles compare it with the value of their
// birth, so that a child notices that its parent's threads are not here, without touching a lock.
#pragma once

#include <cstdint>

namespace headrace {

std::uint64_t fork_generation();

}  // namespace headrace

// What a child of fork() may do with objects of its parent: look at where they come from, and leave them alone.
//
// The parent's threads are not in the child, and whatever lock one of them held stays locked there for ever. So an object that
// has locks or threads keeps a BirthProcess, asks it first, and touches nothing when it is inherited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace headrace {

/// How many forks lie between the first process and this one. Takes no lock.
std::uint64_t fork_generation();

/// The process in which the object was made.
class BirthProcess {
 public:
  /// True in a child of that process.
  bool is_parent() const { return fork_generation() != generation_; }

 private:
  const std::uint64_t generation_ = fork_generation();
};

/// Keeps `value` until the process ends: its destructor would use locks of the parent.
template <class T>
void never_destroy(T value) {
  alignas(T) std::byte storage[sizeof(T)];
  ::new (storage) T(std::move(value));
}

}  // namespace headrace

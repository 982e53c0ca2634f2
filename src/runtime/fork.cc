#include "runtime/fork.h"

#include <pthread.h>

#include <atomic>

namespace headrace {
namespace {

std::atomic<std::uint64_t> generation{0};

}  // namespace

std::uint64_t fork_generation() {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
  static_cast<void>(kRegistered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace headrace

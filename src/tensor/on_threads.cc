#include "tensor/on_threads.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/thread.h"

namespace headrace {
namespace {

constexpr int kMaxThreads = 64;

}  // namespace

Status check_num_threads(int num_threads) {
  if (num_threads >= 1) return {};
  return invalid_argument("num_threads must be at least 1, got " + std::to_string(num_threads));
}

void run_on_threads(int tasks, int num_threads, const std::function<void(int)>& run) {
  std::atomic<int> next{0};
  std::atomic<bool> lacks_memory{false};
  const auto work = [&run, &next, &lacks_memory, tasks] {
    try {
      for (int task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) run(task);
    } catch (const std::bad_alloc&) {
      lacks_memory = true;
    }
  };
  std::vector<Thread> helpers;
  const int helping = std::max(std::min({num_threads, kMaxThreads, tasks}) - 1, 0);
  helpers.reserve(static_cast<std::size_t>(helping));
  try {
    for (int i = 0; i < helping; ++i) helpers.emplace_back("headrace-parse", work);
  } catch (const std::system_error&) {
    // Those there are, and this one, do it all.
  }
  work();
  helpers.clear();
  if (lacks_memory) throw std::bad_alloc();
}

}  // namespace headrace

#include "tensor/on_threads.h"

#include <algorithm>
#include <atomic>
#include <string>
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
  const auto work = [&run, &next, tasks] {
    for (int task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) run(task);
  };
  std::vector<Thread> helpers;
  const int helping = std::max(std::min({num_threads, kMaxThreads, tasks}) - 1, 0);
  helpers.reserve(static_cast<std::size_t>(helping));
  for (int i = 0; i < helping; ++i) helpers.emplace_back("headrace-parse", work);
  work();
}

}  // namespace headrace

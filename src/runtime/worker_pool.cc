#include "runtime/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "runtime/stall.h"

namespace headrace {
namespace {

constexpr int kIoThreads = 8;
// At 30 ms of latency and 100 MB/s a connection, pieces of 4 MiB need 17 of them for 1 GB/s.
constexpr int kNetworkThreads = 32;

// One shared pool per process: a child of fork() has none of the parent's threads, so it must not find the parent's pool.
class SharedPool {
 public:
  std::shared_ptr<WorkerPool> get(const char* name, int threads) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    auto pool = process_ == getpid() ? pool_.lock() : nullptr;
    if (!pool) {
      pool = std::make_shared<WorkerPool>(name, threads);
      pool_ = pool;
      process_ = getpid();
    }
    return pool;
  }

 private:
  Mutex mutex_;
  std::weak_ptr<WorkerPool> pool_ HEADRACE_GUARDED_BY(mutex_);
  pid_t process_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

// Orders a heap so that its front runs first.
constexpr auto kRunsLater = [](const auto& a, const auto& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.order > b.order;
};

}  // namespace

WorkerPool::WorkerPool(std::string name, int threads) : name_(std::move(name)) {
  try {
    grow(threads);
  } catch (...) {
    stop_.request_stop();  // those that are there would be waited for
    throw;
  }
}

WorkerPool::~WorkerPool() {
  stop_.request_stop();
  std::vector<Thread> threads;
  {
    MutexLock lock(mutex_);
    threads.swap(threads_);
  }
}

std::shared_ptr<WorkerPool> WorkerPool::shared(int threads) {
  static SharedPool shared;
  auto pool = shared.get("headrace work", threads);
  pool->grow(threads);
  return pool;
}

std::shared_ptr<WorkerPool> WorkerPool::shared_io() {
  static SharedPool shared;
  return shared.get("headrace io", kIoThreads);
}

std::shared_ptr<WorkerPool> WorkerPool::shared_network() {
  static SharedPool shared;
  return shared.get("headrace net", kNetworkThreads);
}

int WorkerPool::threads() const {
  MutexLock lock(mutex_);
  return static_cast<int>(threads_.size());
}

void WorkerPool::grow(int threads) {
  MutexLock lock(mutex_);
  while (static_cast<int>(threads_.size()) < threads) {
    threads_.emplace_back(name_ + " " + std::to_string(threads_.size()), [this] { work(); });
  }
}

TaskGroup* WorkerPool::best_group() {
  TaskGroup* best = nullptr;
  for (TaskGroup* group : groups_) {
    if (group->heap_.empty() || group->running_ >= group->max_running_) continue;
    if (best == nullptr || kRunsLater(best->heap_.front(), group->heap_.front())) best = group;
  }
  return best;
}

void WorkerPool::work() {
  const std::stop_token stop = stop_.get_token();
  mutex_.lock();
  for (;;) {
    TaskGroup* group = nullptr;
    if (!changed_.wait(mutex_, stop, [this, &group]() HEADRACE_REQUIRES(mutex_) {
          group = best_group();
          return group != nullptr;
        })) {
      mutex_.unlock();
      return;
    }
    std::pop_heap(group->heap_.begin(), group->heap_.end(), kRunsLater);
    std::function<void()> run = std::move(group->heap_.back().run);
    group->heap_.pop_back();
    ++group->running_;
    mutex_.unlock();
    random_stall();
    group->run(std::move(run));
    mutex_.lock();
    const bool was_at_cap = group->running_-- >= group->max_running_;
    if (group->closed_) {
      drained_.notify_all();
    } else if (was_at_cap && !group->heap_.empty()) {
      changed_.notify_one();  // this thread may take a task of another group: the group's next one is for anybody
    }
  }
}

TaskGroup::TaskGroup(std::shared_ptr<WorkerPool> pool, int max_running, std::function<void()> no_memory)
    : pool_(std::move(pool)), no_memory_(std::move(no_memory)), max_running_(max_running) {
  MutexLock lock(pool_->mutex_);
  pool_->groups_.push_back(this);
}

TaskGroup::~TaskGroup() { close(); }

void TaskGroup::run(std::function<void()> task) const {
  try {
    task();
  } catch (const std::bad_alloc&) {
    if (!no_memory_) throw;
    no_memory_();
  }
}

void TaskGroup::submit(TaskPriority priority, std::function<void()> run) {
  {
    MutexLock lock(pool_->mutex_);
    if (closed_) return;
    heap_.push_back({priority, pool_->submitted_++, std::move(run)});
    std::push_heap(heap_.begin(), heap_.end(), kRunsLater);
  }
  pool_->changed_.notify_one();
}

void TaskGroup::set_max_running(int max_running) {
  {
    MutexLock lock(pool_->mutex_);
    max_running_ = max_running;
  }
  pool_->changed_.notify_all();
}

void TaskGroup::close() {
  {
    std::vector<WorkerPool::Waiting> dropped;  // destroyed without the lock: what tasks hold may be anything
    MutexLock lock(pool_->mutex_);
    closed_ = true;
    dropped.swap(heap_);
    std::erase(pool_->groups_, this);
  }
  MutexLock lock(pool_->mutex_);
  // No stop token: running tasks watch their own and end soon.
  pool_->drained_.wait(pool_->mutex_, std::stop_token(), [this] { return running_ == 0; });
}

}  // namespace headrace

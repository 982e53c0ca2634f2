// WorkerPool: the worker threads of this process, shared by all its pipelines. TaskGroup: one pipeline's tasks in it.
//
// Always the task with the smallest priority number runs first, over all groups; equal numbers in order of submission. A
// group never has more than `max_running` tasks running. Tasks are coarse: a block to read, a range of rows to parse.
// Tasks must not block on other tasks; they may block on the operating system only in the pools of IO and network threads.
// All calls may be concurrent. Destroying a group drops its waiting tasks and waits for its running ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/mutex.h"
#include "runtime/thread.h"

namespace headrace {

/// Smaller runs first.
using TaskPriority = std::uint64_t;

class TaskGroup;

class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  /// Threads are named `name` and a number.
  WorkerPool(std::string name, int threads);
  ~WorkerPool();

  /// The pool of this process, made when the first pipeline opens and joined when the last one is gone; grows to `threads`.
  /// After a fork the child gets a pool of its own.
  static std::shared_ptr<WorkerPool> shared(int threads);
  /// The few threads for IO that blocks.
  static std::shared_ptr<WorkerPool> shared_io();
  /// One thread for each request to a server that may be on its way.
  static std::shared_ptr<WorkerPool> shared_network();

  int threads() const;

 private:
  friend class TaskGroup;
  struct Waiting {
    TaskPriority priority;
    std::uint64_t order;
    std::function<void()> run;
  };
  void grow(int threads) HEADRACE_EXCLUDES(mutex_);
  void work();
  TaskGroup* best_group() HEADRACE_REQUIRES(mutex_);

  const std::string name_;
  mutable Mutex mutex_;
  CondVar changed_;  // workers wait for a task
  CondVar drained_;  // close() waits for running tasks
  std::stop_source stop_;
  std::vector<TaskGroup*> groups_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t submitted_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::vector<Thread> threads_ HEADRACE_GUARDED_BY(mutex_);
};

class TaskGroup {
 public:
  /// A task may end by std::bad_alloc where there is a `no_memory`: that is then called on its thread, and must not throw.
  TaskGroup(std::shared_ptr<WorkerPool> pool, int max_running, std::function<void()> no_memory = nullptr);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Queues `run`; dropped silently after close(). `run` must not throw anything else.
  void submit(TaskPriority priority, std::function<void()> run);
  /// From now on; tasks that run go on.
  void set_max_running(int max_running);
  /// Drops what waits, waits for what runs. Idempotent.
  void close();

 private:
  friend class WorkerPool;
  void run(std::function<void()> task) const;

  const std::shared_ptr<WorkerPool> pool_;
  const std::function<void()> no_memory_;
  // guarded by pool_->mutex_
  int max_running_;
  std::vector<WorkerPool::Waiting> heap_;
  int running_ = 0;
  bool closed_ = false;
};

}  // namespace headrace

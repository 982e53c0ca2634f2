// WithoutGil: releases the interpreter lock for a wait in the engine, and stays out of an interpreter that goes away.
#pragma once

#include <Python.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace headrace::python {

/// Every call of the engine that may last goes through one of these.
///
/// A daemon thread that comes back while the interpreter ends must not ask for the lock: Python would unwind it through C++
/// frames, which aborts the process. It sleeps until the process is gone, as Python 3.14 does by itself.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) { ++inside_; }
  ~WithoutGil() {
    while (ending_ && std::this_thread::get_id() != last_thread_) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
    --inside_;
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// Called by atexit, when only daemon threads are left besides the calling one: from now on they do not come back.
  static void begin_exit() {
    last_thread_ = std::this_thread::get_id();
    ending_ = true;
    if (inside_ == 0) return;
    // One that was already asking for the lock gets it now.
    PyThreadState* const state = PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    PyEval_RestoreThread(state);
  }

 private:
  static inline std::thread::id last_thread_;  // written before ending_
  static inline std::atomic<bool> ending_{false};
  static inline std::atomic<int> inside_{0};

  PyThreadState* const state_;
};

}  // namespace headrace::python

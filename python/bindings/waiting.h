// WithoutGil: releases the interpreter lock for a wait in the engine, and stays out of an interpreter that goes away.
#pragma once

#include <Python.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace headrace::python {

/// Set by atexit, when only daemon threads are left besides the main thread.
inline std::atomic<bool> interpreter_ends{false};

/// A daemon thread that comes back from a wait while the interpreter ends must not ask for the lock: Python would unwind it
/// through C++ frames, which ends the process with an abort. It sleeps until the process is gone, as Python 3.14 does.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    while (interpreter_ends.load() && std::this_thread::get_id() != main_thread()) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// The thread that ends the interpreter: the one that called begin_exit().
  static std::thread::id& main_thread() {
    static std::thread::id id;
    return id;
  }

 private:
  PyThreadState* const state_;
};

}  // namespace headrace::python

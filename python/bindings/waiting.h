// WithoutGil: releases the interpreter lock for a wait in the engine, and stays out of an interpreter that goes away.
// WithGil: takes it on a thread of the engine, unless the interpreter goes away.
#pragma once

#include <Python.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "headrace/interrupt.h"

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

  /// What Python does for the signals that came; false when one of their handlers raised, which is the thread's exception then.
  bool handle_signals() {
    PyEval_RestoreThread(state_);
    const bool raised = PyErr_CheckSignals() != 0;
    PyEval_SaveThread();
    return !raised;
  }

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
  friend class WithGil;
  static inline std::thread::id last_thread_;  // written before ending_
  static inline std::atomic<bool> ending_{false};
  static inline std::atomic<int> inside_{0};

  PyThreadState* const state_;
};

/// False when the interpreter ends: then it was not taken. The thread holds no lock of the engine's.
class WithGil {
 public:
  WithGil() : is_taken_(!WithoutGil::ending_ || std::this_thread::get_id() == WithoutGil::last_thread_) {
    if (is_taken_) state_ = PyGILState_Ensure();
  }
  ~WithGil() {
    if (is_taken_) PyGILState_Release(state_);
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  explicit operator bool() const { return is_taken_; }

 private:
  const bool is_taken_;
  PyGILState_STATE state_{};
};

/// The same as WithoutGil for calls that may wait for a network: on the main thread, signals are handled meanwhile, and one whose handler
/// raises ends the call. Its exception is what raise() (failure.h) raises then.
class WithoutGilInterruptible {
 public:
  WithoutGilInterruptible() : scope_([this] { return is_main_ && !release_.handle_signals(); }) {}

 private:
  const bool is_main_ = ::gettid() == ::getpid();
  WithoutGil release_;
  InterruptScope scope_;
};

}  // namespace headrace::python

// Thread: a named thread with a joiner. Workers block signals, so that Ctrl-C reaches the main thread.
// The destructor joins; whoever owns one must make its body return first (through a stop token that the body watches).
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace headrace {

class Thread {
 public:
  Thread() = default;
  /// Starts `body` under `name` (the first 15 bytes are shown by the system). `body` must not throw: whatever still comes
  /// through ends the process, since no caller is left to hand it to.
  Thread(const std::string& name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept {
    join();
    thread_ = std::move(other.thread_);
    return *this;
  }
  ~Thread() { join(); }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace headrace

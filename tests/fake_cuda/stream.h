// Stream: a thread that does pieces of work in the order in which they were queued. Event: a mark in that order.
//
// Pieces are queued and marks are set by any thread; the pieces themselves run on the stream's thread with no lock held.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fake_cuda/order.h"

namespace headrace::fake_cuda {

/// Something that will be done once. Any thread.
class Done {
 public:
  void set();
  bool is_set() const;
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool set_ = false;
};

class Stream {
 public:
  Stream(StreamId id, int device);
  /// Does what is queued, then ends.
  ~Stream();

  void queue(std::function<void()> work);
  StreamId id() const { return id_; }
  int device() const { return device_; }

  Clock clock;  ///< what its next work knows; guarded by the driver's mutex

 private:
  void run();

  const StreamId id_;
  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool ends_ = false;
  std::thread thread_;
};

/// Guarded by the driver's mutex; `done` is shared with the streams that it was recorded on, one after another.
struct Event {
  int device = 0;
  bool is_recorded = false;
  Clock clock;
  std::vector<std::shared_ptr<Done>> done;  ///< one per stream of the last recording
};

}  // namespace headrace::fake_cuda

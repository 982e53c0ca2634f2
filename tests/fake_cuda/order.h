// Order: which work is certain to be over when other work starts, from the calls alone (vector clocks).
//
// Every stream numbers its work. A Clock says up to which number the work of each stream is known to be over. Waiting for an
// event takes over what the event knows; the host learns by synchronising, and all work that is queued later knows what the host
// knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace headrace::fake_cuda {

using StreamId = std::uint64_t;

/// The work of `stream` up to `number`.
struct Work {
  StreamId stream = 0;
  std::uint64_t number = 0;
};

class Clock {
 public:
  bool knows(const Work& work) const {
    const auto found = numbers_.find(work.stream);
    return work.number == 0 || (found != numbers_.end() && found->second >= work.number);
  }
  void learn(const Work& work) {
    std::uint64_t& number = numbers_[work.stream];
    number = std::max(number, work.number);
  }
  void learn(const Clock& other) {
    for (const auto& [stream, number] : other.numbers_) learn(Work{stream, number});
  }
  /// The number of the last work of `stream`.
  std::uint64_t last(StreamId stream) const {
    const auto found = numbers_.find(stream);
    return found == numbers_.end() ? 0 : found->second;
  }

 private:
  std::map<StreamId, std::uint64_t> numbers_;
};

/// The accesses to one piece of memory that a new one must be ordered behind.
class Accesses {
 public:
  /// Whether a read by who knows `clock` is behind the last write.
  bool may_read(const Clock& clock) const { return clock.knows(last_write_); }
  /// Whether a write, or the end of the memory, is behind the last write and all reads since.
  bool may_write(const Clock& clock) const {
    return may_read(clock) && std::all_of(reads_.begin(), reads_.end(), [&clock](const auto& read) {
             return clock.knows(Work{read.first, read.second});
           });
  }
  void read(const Work& work) { reads_[work.stream] = work.number; }
  void wrote(const Work& work) {
    last_write_ = work;
    reads_.clear();
  }

 private:
  Work last_write_;
  std::map<StreamId, std::uint64_t> reads_;
};

}  // namespace headrace::fake_cuda

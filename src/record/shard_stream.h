// ShardStream: one open shard that is read ahead by tasks. ReadAhead: what all streams of one source share.
//
// Where its shard is one for a RecordLocator, records are only located, otherwise a ShardReader reads them.
// A stream has at most one task at a time: a step of its reader on a worker, or on an IO thread when the step would
// wait for a disk. The task puts finished pieces into a queue, goes on while there is room, and ends; take() starts the next
// one when half of what was there is gone. So neither side wakes the other for every large record. Tasks hold the stream by shared_ptr, so the source may be gone before they end; abandon() makes them end soon.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "record/record_locator.h"
#include "record/shard_reader.h"
#include "record/source.h"
#include "runtime/mutex.h"

namespace headrace {

/// Shared by the source and its tasks. The pointers of `context` outlive the tasks.
struct ReadAhead {
  ReadAhead(SourceContext the_context, const SourceOptions& the_options)
      : context(std::move(the_context)), options(the_options) {}

  const SourceContext context;
  const SourceOptions options;
  Mutex mutex;
  CondVar changed;  ///< what the source waits for is there
  bool waits_for_any HEADRACE_GUARDED_BY(mutex) = false;
  std::int64_t waits_for_shard HEADRACE_GUARDED_BY(mutex) = -1;
  std::int64_t waits_for_records HEADRACE_GUARDED_BY(mutex) = 1;  ///< of that shard
  int running HEADRACE_GUARDED_BY(mutex) = 0;
  std::int64_t idle_since_ns HEADRACE_GUARDED_BY(mutex) = 0;  ///< when `running` became 0; 0 = never
};

class ShardStream : public std::enable_shared_from_this<ShardStream> {
 public:
  ShardStream(std::shared_ptr<ReadAhead> shared, std::uint32_t shard, ShardPlace start);
  ~ShardStream();
  ShardStream(const ShardStream&) = delete;
  ShardStream& operator=(const ShardStream&) = delete;

  /// Starts reading ahead; `distance` = how many other shards are needed first.
  void start(std::uint64_t distance) HEADRACE_EXCLUDES(shared_->mutex);
  /// Moves the next piece out; kWouldWait when it is not there yet. An end or a failure stays.
  ReadStep take(ShardPiece* piece) HEADRACE_EXCLUDES(shared_->mutex);
  /// True when take() would not say kWouldWait. The caller holds ReadAhead::mutex, by a name that clang cannot match.
  bool ready() const HEADRACE_ATTRIBUTE(no_thread_safety_analysis) { return !waiting_.empty(); }
  /// The same for `records` of them, or as many as are read ahead at most.
  bool ready(std::int64_t records) const HEADRACE_ATTRIBUTE(no_thread_safety_analysis) {
    return waiting_records_ >= records || (ready() && !running_);
  }
  /// Nobody will take any more.
  void abandon() HEADRACE_EXCLUDES(shared_->mutex);

  std::uint32_t shard() const { return shard_; }
  /// Bytes of the file that the reader has used.
  std::uint64_t file_position() const { return file_position_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    ReadStep step;
    ShardPiece piece;
  };

  /// Puts the next task to a group, on a worker or where it may wait.
  void submit(bool may_wait, std::uint64_t distance);
  void run(bool may_wait);
  ReadStep read(bool may_wait, ShardPiece* piece);
  /// Puts what reader_ inflated since the last call to the probe, and its memory to that of the blocks; the time of it.
  std::int64_t count_inflated();
  /// True while less than 1 / `share` of what may be read ahead is there.
  bool has_room(std::int64_t share) const HEADRACE_REQUIRES(shared_->mutex);
  bool start_running() HEADRACE_REQUIRES(shared_->mutex);
  void stop_running() HEADRACE_REQUIRES(shared_->mutex);

  const std::shared_ptr<ReadAhead> shared_;
  const std::uint32_t shard_;
  // used by the running task alone
  std::optional<FileRecord> file_;  // where the shard is one record
  std::optional<RecordLocator> locator_;
  std::optional<ShardReader> reader_;  // once the locator has nothing more to do
  InflateCost counted_;                // of reader_
  std::atomic<std::uint64_t> file_position_{0};
  // guarded by shared_->mutex
  std::deque<Waiting> waiting_ HEADRACE_GUARDED_BY(shared_->mutex);
  std::int64_t waiting_blocks_ HEADRACE_GUARDED_BY(shared_->mutex) = 0;
  std::int64_t waiting_records_ HEADRACE_GUARDED_BY(shared_->mutex) = 0;
  std::int64_t waiting_bytes_ HEADRACE_GUARDED_BY(shared_->mutex) = 0;
  std::uint64_t distance_ HEADRACE_GUARDED_BY(shared_->mutex) = 0;
  bool running_ HEADRACE_GUARDED_BY(shared_->mutex) = false;
  bool complete_ HEADRACE_GUARDED_BY(shared_->mutex) = false;  ///< end or failure is in the queue
  bool abandoned_ HEADRACE_GUARDED_BY(shared_->mutex) = false;
};

}  // namespace headrace

#include "record/shard_stream.h"

#include <algorithm>
#include <utility>

#include "runtime/clock.h"
#include "runtime/trace_log.h"

namespace headrace {
namespace {

// Small blocks: as many of them as make up this, for each of `blocks_ahead`.
constexpr std::int64_t kAheadBytes = 128 * 1024;
// Large ones: what a visit of the interleave takes, but not more than this.
constexpr std::int64_t kMostAheadBytes = 2 << 20;
// A task ends after so much, so that a more urgent one gets the worker.
constexpr std::int64_t kTaskBytes = 1 << 20;

std::int64_t payload_bytes(const RecordBlock& block) {
  const RecordSpan& last = block.records.back();
  return std::int64_t{last.offset} + last.length - block.records.front().offset;
}

}  // namespace

ShardStream::ShardStream(std::shared_ptr<ReadAhead> shared, std::uint32_t shard, ShardPlace start)
    : shared_(std::move(shared)), shard_(shard) {
  const SourceOptions& options = shared_->options;
  if (options.record == RecordKind::kFramed) {
    locator_.emplace(shared_->context, options, shard, start);
  } else {
    file_.emplace(shared_->context.blocks, shared_->context.shards->files[shard], shard, options.record, options.read,
                  start);
  }
}

ShardStream::~ShardStream() {
  abandon();
  shared_->context.blocks->count_beside(-counted_.memory_bytes);
}

bool ShardStream::has_room(std::int64_t share) const {
  if (waiting_blocks_ == 0) return true;
  const SourceOptions& options = shared_->options;
  if (!shared_->context.blocks->has_room()) return false;
  const std::int64_t bytes = share * waiting_bytes_;
  return share * waiting_blocks_ < options.blocks_ahead || bytes < options.blocks_ahead * kAheadBytes ||
         (share * waiting_records_ < options.block_length && bytes < kMostAheadBytes);
}

bool ShardStream::start_running() {
  if (running_ || complete_ || abandoned_ || !has_room(2)) return false;
  running_ = true;
  if (shared_->running++ == 0 && shared_->idle_since_ns > 0) {
    // No stream had anything to do: all were waiting for room.
    shared_->context.probe->blocked_ns.fetch_add(now_ns() - shared_->idle_since_ns, std::memory_order_relaxed);
  }
  return true;
}

void ShardStream::stop_running() {
  running_ = false;
  if (--shared_->running == 0) shared_->idle_since_ns = now_ns();
}

void ShardStream::start(std::uint64_t distance) {
  {
    MutexLock lock(shared_->mutex);
    distance_ = distance;
    if (!start_running()) return;
  }
  submit(false, distance);
}

void ShardStream::submit(bool may_wait, std::uint64_t distance) {
  TaskGroup* group = may_wait ? shared_->context.io : shared_->context.work;
  group->submit(shared_->context.priority + distance, [self = shared_from_this(), may_wait] { self->run(may_wait); });
}

ReadStep ShardStream::read(bool may_wait, ShardPiece* piece) {
  if (file_) return file_->step(may_wait, piece);
  if (locator_) {
    if (const std::optional<ReadStep> step = locator_->step(may_wait, piece)) return *step;
    reader_.emplace(shared_->context.blocks, shared_->context.shards->files[shard_], shard_, shared_->options.read,
                    locator_->place());
    locator_.reset();
  }
  return reader_->step(may_wait, piece);
}

std::int64_t ShardStream::count_inflated() {
  if (!reader_) return 0;
  const InflateCost before = std::exchange(counted_, reader_->inflate_cost());
  if (counted_.memory_bytes != before.memory_bytes) {
    shared_->context.blocks->count_beside(counted_.memory_bytes - before.memory_bytes);
  }
  if (shared_->context.inflate == nullptr) return counted_.busy_ns - before.busy_ns;
  if (counted_.file_bytes > before.file_bytes || counted_.bytes > before.bytes) {
    (*shared_->context.inflate)[static_cast<std::size_t>(reader_->compression())].add(before, counted_);
  }
  return counted_.busy_ns - before.busy_ns;
}

void ShardStream::run(bool may_wait) {
  StageProbe& probe = *shared_->context.probe;
  std::int64_t bytes = 0;
  for (;;) {
    Waiting next;
    const std::int64_t begin_ns = now_ns();
    next.step = read(may_wait, &next.piece);
    const std::int64_t read_ns = now_ns() - begin_ns;
    if (reader_) file_position_.store(reader_->file_position(), std::memory_order_relaxed);
    // A read that may wait does little else, except for what it inflates.
    const std::int64_t inflate_ns = count_inflated();
    const std::int64_t busy_ns = may_wait ? std::min(read_ns, inflate_ns) : read_ns;
    probe.busy_ns.fetch_add(busy_ns, std::memory_order_relaxed);
    probe.starved_ns.fetch_add(read_ns - busy_ns, std::memory_order_relaxed);
    trace_span({"read", -1, system_thread(), begin_ns, begin_ns + read_ns});
    if (next.step == ReadStep::kWouldWait) return submit(true, 0);
    RecordBlock* block = next.piece.block;
    if (block != nullptr) {
      bytes += payload_bytes(*block);
      probe.add(static_cast<std::int64_t>(block->records.size()), payload_bytes(*block));
    }
    std::uint64_t distance = 0;
    bool goes_on = false;
    bool source_waits = false;
    {
      MutexLock lock(shared_->mutex);
      waiting_.push_back(std::move(next));
      if (block != nullptr) {
        ++waiting_blocks_;
        waiting_records_ += static_cast<std::int64_t>(block->records.size());
        waiting_bytes_ += payload_bytes(*block);
      } else {
        complete_ = true;
      }
      goes_on = !complete_ && !abandoned_ && has_room(1);
      if (!goes_on) stop_running();
      source_waits =
          shared_->waits_for_any || (shared_->waits_for_shard == shard_ && ready(shared_->waits_for_records));
      distance = distance_ + static_cast<std::uint64_t>(waiting_blocks_);
    }
    if (source_waits) shared_->changed.notify_all();
    if (!goes_on) return;
    if (may_wait || bytes >= kTaskBytes) return submit(false, distance);
  }
}

ReadStep ShardStream::take(ShardPiece* piece) {
  ReadStep step = ReadStep::kWouldWait;
  bool start = false;
  {
    MutexLock lock(shared_->mutex);
    distance_ = 0;
    if (!waiting_.empty()) {
      Waiting& front = waiting_.front();
      step = front.step;
      if (step == ReadStep::kBlock) {
        --waiting_blocks_;
        waiting_records_ -= static_cast<std::int64_t>(front.piece.block->records.size());
        waiting_bytes_ -= payload_bytes(*front.piece.block);
        *piece = std::move(front.piece);
        waiting_.pop_front();
      } else {
        piece->block = nullptr;
        piece->damage = std::exchange(front.piece.damage, {});
        piece->failure = front.piece.failure;
      }
    }
    start = start_running();
  }
  if (start) submit(false, 0);
  return step;
}

void ShardStream::abandon() {
  MutexLock lock(shared_->mutex);
  abandoned_ = true;
  for (const Waiting& waiting : waiting_) {
    RecordBlock* block = waiting.piece.block;
    if (block == nullptr) continue;
    const RecordRun all{block, 0, static_cast<std::uint32_t>(block->records.size())};
    shared_->context.blocks->release({&all, 1});
  }
  waiting_.clear();
  waiting_blocks_ = 0;
  waiting_records_ = 0;
  waiting_bytes_ = 0;
}

}  // namespace headrace

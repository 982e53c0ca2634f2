#include "pipeline/executor.h"

#include <algorithm>

#include "headrace/no_memory.h"
#include "pipeline/cached_job.h"
#include "pipeline/late_rows.h"
#include "pipeline/locate.h"
#include "runtime/clock.h"
#include "runtime/stall.h"

namespace headrace {

Executor::Executor(const ExecutorParts& parts)
    : parts_(parts),
      parsed_plan_(parsed_plan(parts)),
      low_water_(parts.max_in_flight - std::max(1, parts.max_in_flight / 4)),
      delivered_(parts.first_number),
      next_number_(parts.first_number) {}

Executor::~Executor() {
  stop();
  drop_batches();
}

void Executor::start() {
  sequencer_ = Thread("headrace order", [this] { run_sequencer(); });
}

void Executor::stop() {
  stop_.request_stop();
  sequencer_.join();
}

void Executor::drop_batches() {
  MutexLock lock(mutex_);
  for (const auto& batch : in_flight_) {
    if (batch->state == InFlightState::kParsing && !batch->pin) parts_.blocks->release(batch->records.runs);
  }
  in_flight_.clear();
  asked_about_ = nullptr;
  ready_bytes_.store(0, std::memory_order_relaxed);
}

void Executor::run_sequencer() {
  const Status done = or_no_memory([this]() -> Status {
    const std::optional<Status> end = cut_all_batches();
    if (end) finish_stream(*end);
    return {};
  });
  if (!done.ok()) give_up(done);
}

std::optional<Status> Executor::cut_all_batches() {
  const std::stop_token stop = stop_.get_token();
  while (wait_for_room()) {
    parts_.settle();
    const std::int64_t starved_before_ns = parts_.read_wait->waited_ns;
    const std::int64_t begin_ns = now_ns();
    Result<std::optional<RecordBatch>> pulled = parts_.stage->pull(stop);
    const std::int64_t end_ns = now_ns();
    const std::int64_t waited_ns = std::exchange(waited_ns_, 0);
    const std::int64_t starved_ns = parts_.read_wait->waited_ns - starved_before_ns;
    parts_.order->busy_ns.fetch_add(end_ns - begin_ns - waited_ns - starved_ns, std::memory_order_relaxed);
    parts_.order->starved_ns.fetch_add(starved_ns, std::memory_order_relaxed);
    parts_.order->blocked_ns.fetch_add(waited_ns, std::memory_order_relaxed);
    if (!pulled.ok()) return pulled.status();
    if (!*pulled) return Status();
    RecordBatch& records = **pulled;
    records.number = next_number_;
    if (!is_for_cache_alone(records)) ++next_number_;
    parts_.trace->add({"cut", records.number, system_thread(), begin_ns, end_ns});
    parts_.order->add(records.rows, 0);
    random_stall();
    if (asked_about_ != nullptr) {
      adopt(std::move(records));
    } else {
      start_parse(std::move(records));
    }
  }
  return std::nullopt;
}

void Executor::give_up(const Status& failure) {
  parts_.blocks->stop_recycling();
  {
    MutexLock lock(mutex_);
    if (!failure_) failure_ = failure;
  }
  ready_.notify_all();
}

bool Executor::wait_for_room() {
  const ProbeTimer timer(parts_.order->blocked_ns);
  {
    MutexLock lock(mutex_);
    const auto has_room = [this]() HEADRACE_REQUIRES(mutex_) {
      return in_flight_.empty() || (static_cast<int>(in_flight_.size()) < parts_.max_in_flight && has_memory());
    };
    if (!room_.wait(mutex_, stop_.get_token(), has_room) || stop_.stop_requested()) return false;
  }
  if (parts_.memory_bytes > 0) drop_free_buffers();
  return true;
}

bool Executor::has_memory() const {
  if (parts_.memory_bytes == 0) return true;
  if (most_bytes_ < 0) return false;  // how much the first one takes is not known yet
  const auto parsing = std::count_if(in_flight_.begin(), in_flight_.end(), [](const std::shared_ptr<InFlight>& batch) {
    return batch->state == InFlightState::kParsing;
  });
  const std::int64_t records = std::max(parts_.blocks->bytes_in_use(), parts_.blocks->budget());
  const std::int64_t cached = parts_.cache != nullptr ? parts_.cache->memory_bytes() : 0;
  return cached + records + ready_bytes() + (parsing + 1 + parts_.kept_batches) * most_bytes_ <= parts_.memory_bytes;
}

void Executor::drop_free_buffers() const {
  const std::int64_t records = std::max(parts_.blocks->bytes_in_use(), parts_.blocks->budget());
  const std::int64_t buffers = parts_.buffers->bytes_in_use() + parts_.buffers->bytes_free();
  if (records + buffers > parts_.memory_bytes) parts_.buffers->drop_free();
}

void Executor::divide_memory(std::int64_t batch_bytes) {
  if (batch_bytes <= most_bytes_ || parts_.memory_bytes == 0) return;
  most_bytes_ = batch_bytes;
  const std::int64_t left = parts_.memory_bytes - (1 + parts_.kept_batches) * most_bytes_;
  parts_.blocks->set_budget(std::max<std::int64_t>(1, std::min(left, parts_.memory_bytes / 2)));
}

void Executor::finish_stream(Status failure) {
  auto end = std::make_shared<InFlight>();
  end->failure = std::move(failure);
  {
    MutexLock lock(mutex_);
    end->state = InFlightState::kEnd;
    in_flight_.push_back(std::move(end));
  }
  ready_.notify_all();
}

std::shared_ptr<InFlight> Executor::prepare(RecordBatch records, bool is_asked_about) {
  auto batch = std::make_shared<InFlight>();
  batch->records = std::move(records);
  batch->rows = batch->records.rows;
  batch->is_asked_about = is_asked_about;
  if (is_cached(batch->records)) {
    batch->job = std::make_unique<CachedJob>(parts_.cache, batch->records.cache->slot);
    return batch;
  }
  // Records of a batch that may be cut otherwise are pinned when it is not.
  if (parts_.pins_records) {
    batch->pin = parts_.blocks->pin(is_asked_about ? std::vector<RecordRun>() : batch->records.runs);
  }
  ParseInput input = parse_input(batch.get(), batch->rows);
  batch->parsed_rows = std::ssize(input.rows);
  input.finds_all_misfits = is_asked_about;
  batch->job = parts_.parser->begin(std::move(input), rows_per_task(batch->records));
  return batch;
}

void Executor::start_parse(RecordBatch records) {
  const std::shared_ptr<InFlight> batch = prepare(std::move(records), false);
  {
    MutexLock lock(mutex_);
    in_flight_.push_back(batch);
  }
  submit_tasks(batch);
}

void Executor::submit_tasks(const std::shared_ptr<InFlight>& batch) {
  const int tasks = batch->job->tasks();
  if (tasks == 0) {  // no rows here: there is no phase behind this one
    batch->job->finish_phase();
    return parsed(batch.get());
  }
  batch->tasks_left.store(tasks, std::memory_order_relaxed);
  const std::int64_t ahead = batch->records.number - delivered_.load(std::memory_order_relaxed);
  const auto priority = static_cast<TaskPriority>(std::max<std::int64_t>(0, ahead));
  for (int task = 0; task < tasks; ++task) {
    parts_.work->submit(priority, [this, batch, task] { run_task(batch, task); });
  }
}

void Executor::run_task(const std::shared_ptr<InFlight>& batch, int task) {
  const std::int64_t begin_ns = now_ns();
  batch->job->run(task);
  const std::int64_t end_ns = now_ns();
  const std::int64_t loading_ns = take_loading_ns();
  parts_.read->busy_ns.fetch_add(loading_ns, std::memory_order_relaxed);
  if (!is_cached(batch->records)) {
    parts_.parse->busy_ns.fetch_add(end_ns - begin_ns - loading_ns, std::memory_order_relaxed);
  }
  batch->parse_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
  parts_.trace->add({"parse", batch->records.number, system_thread(), begin_ns, end_ns});
  // The thread that brings the count to zero sees what all other tasks wrote.
  if (batch->tasks_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (batch->job->finish_phase()) {
    submit_tasks(batch);
  } else {
    parsed(batch.get());
  }
}

void Executor::parsed(InFlight* batch) {
  if (!batch->is_asked_about) return complete(batch);
  {
    MutexLock lock(mutex_);
    batch->state = InFlightState::kParsed;
  }
  asked_.notify_all();
}

Result<std::vector<Slice>> Executor::take_mapped(ParseJob* job, const RecordBatch& records, bool partial) const {
  Result<std::vector<Slice>> slices = job->take();
  if (!slices.ok()) return slices;
  if (!is_cached(records)) {
    keep_local(&*slices);
    HEADRACE_RETURN_IF_ERROR(parts_.maps->apply(&*slices));
    if (records.cache && !partial) HEADRACE_RETURN_IF_ERROR(parts_.cache->keep(records, *slices));
  }
  HEADRACE_RETURN_IF_ERROR(parts_.maps->apply_behind_cache(&*slices));
  return slices;
}

void Executor::complete(InFlight* batch) {
  const std::optional<CachePlace>& place = batch->records.cache;
  Result<std::vector<Slice>> slices = take_mapped(batch->job.get(), batch->records, false);
  if (!slices.ok() && place && !is_cached(batch->records)) PipelineCache::give_up(*place, slices.status());
  if (slices.ok()) {
    batch->slices = std::move(*slices);
  } else {
    const Status failure = in_global_batch(slices.status(), *batch);
    batch->failure = locate(failure, batch->records, *parts_.shards);
    const std::int64_t good_rows = std::max<std::int64_t>(0, failure.where().row);
    batch->rows = 0;
    if (good_rows > 0 && parts_.drop_remainder) {
      batch->failure = withhold(batch->failure, good_rows);
    } else if (good_rows > 0) {
      // Rare: the rows in front of the bad one are parsed once more, here, as a batch of their own.
      const std::unique_ptr<ParseJob> job = parts_.parser->begin(parse_input(batch, good_rows), good_rows);
      do {
        for (int task = 0; task < job->tasks(); ++task) job->run(task);
      } while (job->finish_phase());
      Result<std::vector<Slice>> partial = take_mapped(job.get(), batch->records, true);
      if (partial.ok()) {
        batch->slices = std::move(*partial);
        batch->rows = good_rows;
      } else {
        batch->failure = locate(partial.status(), batch->records, *parts_.shards);
      }
    }
  }
  if (!is_cached(batch->records)) count_parsed(*batch);
  if (batch->parsed_rows > 0) {
    const std::int64_t measured = batch->parse_ns.load(std::memory_order_relaxed) / batch->parsed_rows;
    ns_per_row_.store((3 * ns_per_row_.load(std::memory_order_relaxed) + measured) / 4, std::memory_order_relaxed);
  }
  if (batch->pin && batch->late) batch->pin->add(batch->late->take_kept());
  batch->bytes = column_bytes(batch->slices);
  // Columns of views hold their records with them.
  const std::int64_t held_bytes = batch->bytes + (batch->pin ? payload_bytes(batch->records) : 0);
  if (batch->records.number == parts_.first_number && batch->failure.ok()) {
    batch->failure = parts_.check_memory(held_bytes);
    if (!batch->failure.ok()) {
      batch->slices.clear();
      batch->rows = batch->bytes = 0;
    }
  }
  batch->job.reset();
  batch->late.reset();
  if (!batch->pin) parts_.blocks->release(batch->records.runs);
  if (is_for_cache_alone(batch->records)) {
    batch->slices.clear();
    batch->rows = batch->bytes = 0;
  }
  ready_bytes_.fetch_add(batch->bytes, std::memory_order_relaxed);
  bool is_next = false;
  {
    MutexLock lock(mutex_);
    batch->state = InFlightState::kReady;
    divide_memory(held_bytes);
    is_next = in_flight_.front().get() == batch;
  }
  if (is_next) ready_.notify_all();
  if (parts_.memory_bytes > 0) room_.notify_all();  // records went back: there may be memory now
}

void Executor::drop_passed() {
  while (!in_flight_.empty() && in_flight_.front()->state == InFlightState::kReady &&
         in_flight_.front()->failure.ok() && is_for_cache_alone(in_flight_.front()->records)) {
    in_flight_.pop_front();
    room_.notify_one();
  }
}

Wait Executor::next_for(std::chrono::milliseconds timeout, Result<std::optional<Delivery>>* delivery) {
  std::shared_ptr<InFlight> batch;
  bool wake_sequencer = false;
  random_stall();
  {
    MutexLock lock(mutex_);
    const auto something = [this]() HEADRACE_REQUIRES(mutex_) {
      drop_passed();
      return failure_ || (!in_flight_.empty() && in_flight_.front()->state != InFlightState::kParsing);
    };
    if (!something()) {
      const std::int64_t begin_ns = now_ns();
      if (waiting_since_ns_ == 0) waiting_since_ns_ = begin_ns;
      const bool found = ready_.wait_for(mutex_, stop_.get_token(), timeout, something);
      const std::int64_t end_ns = now_ns();
      parts_.deliver->starved_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
      if (!found && !stop_.stop_requested()) {
        if (static_cast<double>(end_ns - waiting_since_ns_) > parts_.stall_seconds * 1e9) warn_stall();
        return Wait::kTimeout;
      }
    }
    waiting_since_ns_ = 0;
    if (!failure_ && stop_.stop_requested()) failure_ = cancelled("the pipeline was closed");
    if (failure_) {
      if (failure_->ok()) {
        *delivery = std::optional<Delivery>();
      } else {
        *delivery = *failure_;
      }
      return Wait::kReady;
    }
    batch = std::move(in_flight_.front());
    in_flight_.pop_front();
    if (batch->state == InFlightState::kEnd || !batch->failure.ok()) failure_ = batch->failure;
    if (batch->rows == 0 && failure_) {
      if (failure_->ok()) {
        *delivery = std::optional<Delivery>();
      } else {
        *delivery = *failure_;
      }
      return Wait::kReady;
    }
    wake_sequencer = parts_.memory_bytes > 0 || static_cast<int>(in_flight_.size()) <= low_water_;
  }
  ready_bytes_.fetch_sub(batch->bytes, std::memory_order_relaxed);
  if (wake_sequencer) room_.notify_one();
  if (batch->pin) batch->pin->hand_over();
  const std::int64_t number = batch->records.number;
  delivered_.store(number + 1, std::memory_order_relaxed);
  const std::int64_t at_ns = now_ns();
  parts_.trace->add({"deliver", number, system_thread(), at_ns, at_ns});
  parts_.deliver->add(batch->rows, 0);
  Delivery out;
  out.whole = batch->failure.ok() && !batch->records.cut_short;
  out.state = std::move(batch->records.state);
  const std::int64_t epochs_before = batch->records.cache ? batch->records.cache->epochs_before : 0;
  out.batch = {number, batch->records.epoch + epochs_before, batch->rows, std::move(batch->slices)};
  if (!out.batch.replicas.empty()) {
    out.batch.first_row = rows_before(parts_.replicas, out.batch.global_rows, out.batch.replicas.front().rows);
  }
  *delivery = std::optional<Delivery>(std::move(out));
  return Wait::kReady;
}

std::string Executor::describe_read() const {
  const std::int64_t shard = parts_.read_wait->shard;
  if (shard < 0) return "its records are not read yet";
  const ShardFile& file = parts_.shards->files[static_cast<std::size_t>(shard)];
  return "nothing comes from " + file.path + " behind byte " + std::to_string(parts_.read_wait->file_position) +
         " of " + std::to_string(file.bytes);
}

void Executor::warn_stall() {
  parts_.warnings->add("stall", "the consumer has waited longer than " + std::to_string(parts_.stall_seconds) +
                                    " s for batch " + std::to_string(delivered_.load(std::memory_order_relaxed)) +
                                    ": " + (in_flight_.empty() ? describe_read() : "it is being parsed"));
}

}  // namespace headrace

// Executor: runs the stages. One sequencer thread pulls record batches and decides the order; tasks of the worker pool parse
// them, several at once; the consumer takes them in order.
//
//   sequencer: wait for room -> pull a record batch -> queue its parse tasks -> again
//   worker:    run one task of a batch; the last one of a phase starts the next phase or makes the batch ready
//   consumer:  wait until the oldest batch is ready -> take it -> room for one more
//
// start() once, next_for() from one thread at a time, stop() from any thread (idempotent; wakes and joins everything).
// Room: at most `max_in_flight` batches between sequencer and consumer, and beyond the first one only while the memory in
// use is below the budget. The consumer's batches do not count, so a consumer that keeps batches cannot block itself.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "batch/batch_stage.h"
#include "batch/stages.h"
#include "headrace/pipeline.h"
#include "pipeline/cache_store.h"
#include "pipeline/in_flight.h"
#include "pipeline/rows_here.h"
#include "pipeline/slice_maps.h"
#include "record/read_wait.h"
#include "record/record_loader.h"
#include "record/skip_log.h"
#include "replica/plan.h"
#include "runtime/probe.h"
#include "runtime/thread.h"
#include "runtime/trace_ring.h"
#include "runtime/warnings.h"
#include "runtime/worker_pool.h"
#include "shard/file_list.h"
#include "tensor/buffer_pool.h"
#include "tensor/row_keys.h"

namespace headrace {

/// What the executor works with. Everything outlives it; see PipelineImpl.
struct ExecutorParts {
  BatchStage* stage = nullptr;
  BatchParser* parser = nullptr;
  BlockPool* blocks = nullptr;
  BufferPool* buffers = nullptr;  ///< of the batches
  SliceMaps* maps = nullptr;
  PipelineCache* cache = nullptr;  ///< of cache(); else null
  RecordLoader* loader = nullptr;  ///< of records that were only located
  TaskGroup* work = nullptr;
  const ShardList* shards = nullptr;
  const ReadWait* read_wait = nullptr;
  WarningLog* warnings = nullptr;
  TraceRing* trace = nullptr;
  StageProbe* read = nullptr;   ///< gets the time of the loader
  StageProbe* order = nullptr;  ///< the sequencer
  StageProbe* parse = nullptr;
  StageProbe* deliver = nullptr;  ///< the consumer's side

  ReplicaPlan replicas;
  bool parses_all = false;            ///< also rows of replicas of other processes: all have to know which records fit
  bool origin = false;                ///< rows carry where they came from
  std::optional<RandomStream> draws;  ///< rows carry a random key of this stream
  bool pins_records = false;          ///< columns point into the records, which stay as long as these
  bool drop_remainder = false;        ///< rows in front of a bad one are withheld
  SkipLog* skipped = nullptr;         ///< gets the records that do not fit, for find_misfits()
  int max_in_flight = 4;
  std::int64_t first_number = 0;  ///< of the first batch, after a restore
  double stall_seconds = 30;
  std::int64_t memory_bytes = 0;  ///< budget of record blocks and batches, those below among them; 0 = none
  int kept_batches = 2;           ///< of the budget, for a consumer
  /// Called by the sequencer between two batches: work on delivered ones that the consumer must not wait for.
  std::function<void()> settle;
  /// Called with the first batch, while its records are still there: the failure when the budget is too small to go on at all.
  std::function<Status(std::int64_t batch_bytes)> check_memory;
};

/// A batch as it leaves the executor.
struct Delivery {
  Batch batch;
  StateDelta state;   ///< position behind it
  bool whole = true;  ///< false: cut short by a failure; the position stays where it was
};

class Executor {
 public:
  explicit Executor(const ExecutorParts& parts);
  /// The owner has called stop() and closed the task groups.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void start();
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Delivery>>* delivery) HEADRACE_EXCLUDES(mutex_);
  /// Asks everything to stop and joins the sequencer. The owner closes the task groups behind it.
  void stop();
  /// What nobody will take, behind stop() and the end of all tasks.
  void drop_batches() HEADRACE_EXCLUDES(mutex_);
  /// What of `records`, which the sequencer is about to cut, does not fit the schema (FindMisfits in batch/stages.h). Parses
  /// them to the end; the batch that is cut next is then not parsed again. The sequencer's thread alone.
  Misfits find_misfits(const RecordBatch& records, const std::stop_token& stop) HEADRACE_EXCLUDES(mutex_);
  /// Ends the stream at once, whatever is in flight, and without memory: for a failure in the middle of a step. Any thread.
  void give_up(const Status& failure) HEADRACE_EXCLUDES(mutex_);
  /// Whether a batch was cut. The sequencer's thread alone.
  bool has_cut() const { return next_number_ > parts_.first_number; }
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Bytes of the batches that are ready but not taken yet. Any thread.
  std::int64_t ready_bytes() const { return ready_bytes_.load(std::memory_order_relaxed); }

 private:
  void run_sequencer();
  /// How the stream ended; nothing when it was stopped.
  std::optional<Status> cut_all_batches();
  bool wait_for_room() HEADRACE_EXCLUDES(mutex_);
  /// Whether the budget, if there is one, has room for a further batch. One that is being parsed counts as much as the largest
  /// one so far.
  bool has_memory() const HEADRACE_REQUIRES(mutex_);
  /// Free buffers make room for a further batch.
  void drop_free_buffers() const HEADRACE_EXCLUDES(mutex_);
  /// What batches like this one do not need is for record blocks.
  void divide_memory(std::int64_t batch_bytes) HEADRACE_REQUIRES(mutex_);
  std::shared_ptr<InFlight> prepare(RecordBatch records, bool is_asked_about);
  void start_parse(RecordBatch records) HEADRACE_EXCLUDES(mutex_);
  /// The batch that was asked about last is cut, as `records`.
  void adopt(RecordBatch records) HEADRACE_EXCLUDES(mutex_);
  /// The Misfits of a batch that was parsed to its end.
  Misfits judge(const InFlight& batch);
  void finish_stream(Status failure) HEADRACE_EXCLUDES(mutex_);
  void submit_tasks(const std::shared_ptr<InFlight>& batch);
  void run_task(const std::shared_ptr<InFlight>& batch, int task);
  /// The last task of the last phase is done.
  void parsed(InFlight* batch) HEADRACE_EXCLUDES(mutex_);
  void complete(InFlight* batch) HEADRACE_EXCLUDES(mutex_);
  /// What the job made, map() made of it, and a cache has kept unless it is `partial`.
  Result<std::vector<Slice>> take_mapped(ParseJob* job, const RecordBatch& records, bool partial) const;
  /// Of the first `rows` of the batch.
  ParseInput parse_input(InFlight* batch, std::int64_t rows) const;
  /// The replicas whose rows are parsed here.
  static ReplicaPlan parsed_plan(const ExecutorParts& parts);
  /// Those of its first `rows` records that are parsed.
  RowsHere rows_here(const RecordBatch& records, std::int64_t rows) const;
  /// Drops the slices of other processes, where these were parsed, too.
  void keep_local(std::vector<Slice>* slices) const;
  /// The failure, whose row counts from the first of the whole batch.
  Status in_global_batch(const Status& failure, const InFlight& batch) const;
  void count_parsed(const InFlight& batch);
  std::int64_t rows_per_task(const RecordBatch& records) const;
  std::string describe_read() const;
  /// Takes batches away that only a cache was to get.
  void drop_passed() HEADRACE_REQUIRES(mutex_);
  void warn_stall() HEADRACE_REQUIRES(mutex_);

  const ExecutorParts parts_;
  const ReplicaPlan parsed_plan_;
  /// A sequencer that went to sleep for want of room is woken when so few batches are left: once for several of them.
  const int low_water_;
  std::stop_source stop_;
  std::atomic<std::int64_t> ns_per_row_{1000};  // moving average of the parse, sets the size of tasks
  std::atomic<std::int64_t> delivered_{0};
  std::atomic<std::int64_t> ready_bytes_{0};

  // The sequencer's.
  std::int64_t next_number_;
  std::shared_ptr<InFlight> asked_about_;  // what find_misfits() parsed last
  std::int64_t leading_misfits_ = 0;       // records before the first one that fits; -1 once there is one
  std::int64_t waited_ns_ = 0;             // for the parse of what was asked about, since the last pull

  Mutex mutex_;
  CondVar ready_;  // the oldest batch may be ready
  CondVar room_;   // the sequencer may go on
  CondVar asked_;  // the batch that was asked about is parsed
  std::deque<std::shared_ptr<InFlight>> in_flight_ HEADRACE_GUARDED_BY(mutex_);
  std::int64_t most_bytes_ HEADRACE_GUARDED_BY(mutex_) = -1;   // of a batch; -1 = none was parsed
  std::optional<Status> failure_ HEADRACE_GUARDED_BY(mutex_);  // sticky; ok = end of the stream
  std::int64_t waiting_since_ns_ HEADRACE_GUARDED_BY(mutex_) = 0;

  Thread sequencer_;
};

}  // namespace headrace

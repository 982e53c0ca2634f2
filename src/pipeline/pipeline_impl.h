// Pipeline::Impl: owns the parts of a running pipeline in the order in which they need each other, and the position.
//
// Members stand upstream first, so that they go away downstream first. stop() ends everything: it asks the executor to stop,
// joins it, then closes the task groups; only then may stages and pools go.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_stage.h"
#include "batch/position_journal.h"
#include "device/device_feeds.h"
#include "device/feeds.h"
#include "device/open_devices.h"
#include "headrace/pipeline.h"
#include "headrace/report.h"
#include "pipeline/dataset_state.h"
#include "pipeline/executor.h"
#include "pipeline/op.h"
#include "pipeline/open_sources.h"
#include "pipeline/resident_batches.h"
#include "record/record_map.h"
#include "record/source.h"
#include "runtime/fork.h"
#include "runtime/status_page.h"
#include "tensor/buffer_pool.h"

namespace headrace {

class Pipeline::Impl {
 public:
  /// Finds the shards, wires and restores the stages, starts the threads.
  static Result<std::shared_ptr<Impl>> open(const std::shared_ptr<const Op>& op,
                                            const std::shared_ptr<Dataset::Shared>& shared,
                                            const std::optional<Position>& position);
  ~Impl();

  /// Also where the caller's thread finds no memory, the failure stays: the batch that was lost with it is not passed over.
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);
  Wait next_slice_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice);
  Result<Position> position(int back) const;
  std::optional<std::int64_t> cardinality() const;
  int replicas() const { return replicas_; }
  /// kInvalidArgument behind resident(), where a stream has no position.
  Status check_resident() const;
  void close();

  Report report() const;
  void count_map(const std::string& name, std::int64_t busy_ns, std::int64_t rows) HEADRACE_EXCLUDES(counted_mutex_);
  std::vector<TraceSpan> trace() const { return trace_.spans(); }
  /// kCancelled in a child of the process that opened the pipeline: none of the other functions may be called there.
  Status check_process() const;

 private:
  /// wait(), or no_memory(), which then is the end of the stream.
  template <class Call, class Value>
  Wait or_give_up(const Call& wait, Result<std::optional<Value>>* value);
  Impl(std::shared_ptr<const Op> op, std::shared_ptr<Dataset::Shared> shared);
  Status start(const std::optional<Position>& position);
  Status open_devices();
  void make_feeds(std::int64_t first_number);
  Status count_map_memory();
  const ReadOptions& read() const { return read_options(op_); }
  /// The next one for all replicas, of the executor or a resident one.
  Wait fetch_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);
  Status make_threads();
  void make_page();
  Status open_cache(std::int64_t budget);
  /// `is_dealt_anew`: the position is one of another dealing, which the stages know.
  Status restore(const Position& position, const SourceContext& context, bool is_dealt_anew);
  Wait execute_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);
  void settle_position();
  /// As many tasks at once as there are CPUs now. The sequencer's thread.
  void follow_cpus();
  void show_position() HEADRACE_REQUIRES(position_mutex_);
  /// With the first batch, while its records are there.
  Status check_memory(std::int64_t batch_bytes) const;
  /// While records are gathered for the first batch, of which there may be too many.
  Status check_gathered_memory() const;
  Status too_little_memory(std::int64_t record_bytes, std::int64_t batch_bytes) const;

  const std::shared_ptr<const Op> op_;
  const std::shared_ptr<Dataset::Shared> shared_;
  const BirthProcess birth_;

  // set by start(), constant afterwards
  OpenSources sources_;
  bool follows_cpus_ = false;  // nobody has set a number of threads
  int replicas_ = 1;
  int depth_ = 2;
  std::vector<DeviceTarget> targets_;  // empty when all devices are the host's; moved on by make_feeds()
  std::int64_t memory_bytes_ = 0;      // 0 = no limit
  std::int64_t map_bytes_ = 0;         // of it, for the maps of global shuffles
  std::int64_t open_shards_ = 0;       // at once, at most
  double stall_seconds_ = 30;

  // own synchronisation
  std::atomic<int> threads_{1};
  std::int64_t next_look_ns_ = 0;  // at the CPUs; the sequencer's
  WarningLog warnings_;
  std::unique_ptr<SkipLog> skipped_;
  std::unique_ptr<StatusPage> page_;
  const StageProbe* read_probe_ = nullptr;
  ReadWait read_wait_;
  InflateProbes inflate_probes_;
  TraceRing trace_;
  std::shared_ptr<BufferPool> buffers_ = std::make_shared<BufferPool>();
  BlockPool blocks_;
  std::unique_ptr<RecordLoader> loader_;
  std::unique_ptr<TaskGroup> work_;
  std::unique_ptr<TaskGroup> io_;
  std::unique_ptr<PipelineCache> cache_;  // null without cache()
  std::unique_ptr<BatchStage> stage_;     // the sequencer's alone
  std::unique_ptr<BatchParser> parser_;
  std::unique_ptr<SliceMaps> maps_;
  mutable Mutex counted_mutex_;
  std::map<std::string, StageProbe*> counted_maps_ HEADRACE_GUARDED_BY(counted_mutex_);  // of count_map()
  std::optional<WaitMeter> waits_;                                                       // of next_for()
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<ResidentBatches> resident_;  // null without resident()
  std::unique_ptr<Feeds> feeds_;
  std::unique_ptr<DeviceFeeds> device_feeds_;  // null when batches stay in host memory

  mutable Mutex position_mutex_;
  std::optional<PositionJournal> journal_ HEADRACE_GUARDED_BY(position_mutex_);
  std::int64_t epoch_ HEADRACE_GUARDED_BY(position_mutex_) = 0;
  std::int64_t batches_ HEADRACE_GUARDED_BY(position_mutex_) = 0;
  bool counted_ HEADRACE_GUARDED_BY(position_mutex_) = false;  // as an iterator of its dataset

  Mutex close_mutex_;
  bool closed_ HEADRACE_GUARDED_BY(close_mutex_) = false;
};

}  // namespace headrace

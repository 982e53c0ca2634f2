#include "headrace/pipeline.h"

#include <algorithm>
#include <cmath>

#include "headrace/no_memory.h"
#include "pipeline/cardinality.h"
#include "pipeline/identity.h"
#include "pipeline/pipeline_impl.h"
#include "runtime/clock.h"
#include "runtime/cpu_budget.h"
#include "runtime/page_report.h"

namespace headrace {
namespace {

// Between two slices of a wait the executor and the feeds look whether it is time for a warning.
constexpr std::chrono::milliseconds kWaitSlice{1000};
// So often one looks at the CPUs: reading a few small files, 50 us.
constexpr std::int64_t kLookNs = 1'000'000'000;
// So much is gathered for the first batch under any budget: it tells the number needed better than an estimate.
constexpr std::int64_t kGatheredUnasked = std::int64_t{16} << 20;
// Of a shard, one block is handed out, one waits and one is read, at most.
constexpr std::int64_t kBlocksByChance = 3;

}  // namespace

Pipeline::Impl::Impl(std::shared_ptr<const Op> op, std::shared_ptr<Dataset::Shared> shared)
    : op_(std::move(op)), shared_(std::move(shared)) {}

Pipeline::Impl::~Impl() { close(); }

Status Pipeline::Impl::check_process() const {
  if (!birth_.is_parent()) return {};
  return cancelled("the pipeline was opened before fork() and cannot be used in the child; open it there");
}

void Pipeline::Impl::close() {
  MutexLock lock(close_mutex_);
  if (closed_) return;
  closed_ = true;
  if (executor_) executor_->stop();
  if (device_feeds_) device_feeds_->close();
  for (OpenSource& source : sources_.each) source.stop.request_stop();
  if (work_) work_->close();
  if (io_) io_->close();
  // Reports and positions are still asked for; the data is not.
  if (executor_) executor_->drop_batches();
  stage_.reset();
  blocks_.set_budget(1);
  buffers_->drop_free();
  if (page_) page_->hide();
}

template <class Call, class Value>
Wait Pipeline::Impl::or_give_up(const Call& wait, Result<std::optional<Value>>* value) {
  const Result<Wait> waited = or_no_memory([&]() -> Result<Wait> { return wait(); });
  if (waited.ok()) return *waited;
  executor_->give_up(waited.status());
  *value = waited.status();
  return Wait::kReady;
}

Wait Pipeline::Impl::next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  waits_->begin();
  const Wait outcome = device_feeds_ ? or_give_up([&] { return device_feeds_->next_for(timeout, batch); }, batch)
                                     : fetch_for(timeout, batch);
  if (outcome == Wait::kReady) waits_->end(batch->ok() && (*batch)->has_value());
  return outcome;
}

Wait Pipeline::Impl::fetch_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  return or_give_up([&] { return resident_ ? resident_->next_for(timeout, batch) : execute_for(timeout, batch); },
                    batch);
}

Wait Pipeline::Impl::execute_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  Result<std::optional<Delivery>> taken = std::optional<Delivery>();
  if (executor_->next_for(timeout, &taken) == Wait::kTimeout) return Wait::kTimeout;
  if (!taken.ok()) {
    *batch = taken.status();
  } else if (!*taken) {
    *batch = std::optional<Batch>();
  } else {
    Delivery& delivery = **taken;
    MutexLock lock(position_mutex_);
    if (!counted_) shared_->next_epoch = epoch_ + 1;
    counted_ = true;
    if (delivery.whole) {
      epoch_ = delivery.batch.epoch;
      ++batches_;
      show_position();
      journal_->deliver(std::move(delivery.state), delivery.batch.epoch);
    }
    *batch = std::optional<Batch>(std::move(delivery.batch));
  }
  return Wait::kReady;
}

Wait Pipeline::Impl::next_slice_for(int replica, std::chrono::milliseconds timeout,
                                    Result<std::optional<Slice>>* slice) {
  if (replica < 0 || replica >= replicas_) {
    *slice = invalid_argument("replica=" + std::to_string(replica) + " must be below " + std::to_string(replicas_));
    return Wait::kReady;
  }
  return or_give_up(
      [&] {
        return device_feeds_ ? device_feeds_->next_slice_for(replica, timeout, slice)
                             : feeds_->next_for(replica, timeout, slice);
      },
      slice);
}

void Pipeline::Impl::settle_position() {
  MutexLock lock(position_mutex_);
  journal_->settle();
}

void Pipeline::Impl::follow_cpus() {
  const std::int64_t now = now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + kLookNs;
  const int cpus = cpu_budget();
  if (cpus == threads_.exchange(cpus)) return;
  WorkerPool::shared(cpus);  // which work_ keeps alive, grows
  work_->set_max_running(cpus);
}

Status Pipeline::Impl::check_resident() const {
  if (!resident_) return {};
  return invalid_argument("resident(): a stream that is not read has no position");
}

Result<Position> Pipeline::Impl::position(int back) const {
  HEADRACE_RETURN_IF_ERROR(check_resident());
  // The feeds of devices are ahead of who reads them; a batch that a failure cut short counts for neither.
  const std::int64_t next_number = device_feeds_ ? device_feeds_->next_number() : 0;
  int backlog = feeds_->backlog();
  MutexLock lock(position_mutex_);
  if (device_feeds_) backlog = static_cast<int>(std::max<std::int64_t>(0, batches_ - next_number));
  HEADRACE_ASSIGN_OR_RETURN(Position position, journal_->position(back + backlog));
  position.format = 1;
  position.stream_version = read().stream_version;
  position.files = shards_identity(*sources_.shards);
  position.spec = order_spec(op_);
  return position;
}

std::optional<std::int64_t> Pipeline::Impl::cardinality() const { return stream_elements(op_, *shared_); }

Status Pipeline::Impl::check_memory(std::int64_t batch_bytes) const {
  if (memory_bytes_ == 0) return {};
  const std::int64_t records = blocks_.bytes_in_use() + (cache_ != nullptr ? cache_->memory_bytes() : 0);
  if (map_bytes_ + records + (depth_ + 1) * batch_bytes <= memory_bytes_) return {};
  return too_little_memory(records, batch_bytes);
}

Status Pipeline::Impl::check_gathered_memory() const {
  const bool is_over = blocks_.bytes_in_use() > std::max(memory_bytes_ - map_bytes_, kGatheredUnasked);
  if (!is_over || executor_->has_cut()) return {};
  std::int64_t gathered = 0;
  std::int64_t batch = 1;
  for (const Op* op : ops_in_order(op_)) {
    if (const auto* shuffle = std::get_if<ShuffleOp>(&op->arguments)) gathered += shuffle->options.buffer_size;
    if (const auto* cut = std::get_if<BatchOp>(&op->arguments)) batch = cut->options.size;
  }
  // What comes is taken to be like the `records` that were read, whose mean may be off by 3 / sqrt(records) where sizes are
  // skewed; memory comes in sizes a fifth or less too large.
  const auto records =
      static_cast<double>(std::max<std::int64_t>(1, read_probe_->records.load(std::memory_order_relaxed)));
  const auto bytes = static_cast<double>(read_probe_->bytes.load(std::memory_order_relaxed));
  const double each = bytes / records * (1.2 + 3 / std::sqrt(records));
  return too_little_memory(static_cast<std::int64_t>(each * static_cast<double>(gathered + batch)),
                           static_cast<std::int64_t>(each * static_cast<double>(batch)));
}

Status Pipeline::Impl::too_little_memory(std::int64_t record_bytes, std::int64_t batch_bytes) const {
  // When exactly a shard is read ahead is chance.
  const std::int64_t chance = open_shards_ * (kBlocksByChance * blocks_.largest_bytes() + blocks_.largest_beside());
  const std::int64_t smallest = map_bytes_ + record_bytes + chance + (depth_ + 1) * batch_bytes;
  return {StatusCode::kResourceExhausted,
          "memory_bytes=" + std::to_string(memory_bytes_) +
              " is too small for this pipeline: its open shards, its shuffle buffer and " + std::to_string(depth_ + 1) +
              " batches need " + std::to_string(smallest)};
}

void Pipeline::Impl::show_position() {
  StatusWords& words = page_->words();
  words.epoch.store(epoch_, std::memory_order_relaxed);
  words.batches.store(batches_, std::memory_order_relaxed);
  words.record_bytes.store(blocks_.bytes_in_use(), std::memory_order_relaxed);
  words.batch_bytes.store(executor_->ready_bytes(), std::memory_order_relaxed);
}

Report Pipeline::Impl::report() const {
  Report report;
  for (const auto& [name, probe] : page_->stages()) report.stages.push_back(stage_report(name, *probe));
  // Which has its place on the page before the functions of map() and the cache, however many these are.
  const auto deliver = std::find_if(report.stages.begin(), report.stages.end(),
                                    [](const StageReport& stage) { return stage.name == "deliver"; });
  std::rotate(deliver, deliver + 1, report.stages.end());
  report.transforms = parser_->transform_reports();
  for (std::size_t format = 0; format < inflate_probes_.size(); ++format) {
    const InflateProbe& probe = inflate_probes_[format];
    if (probe.file_bytes.load() == 0) continue;
    report.inflate.push_back({.compression = compression_name(static_cast<Compression>(format)),
                              .busy_seconds = static_cast<double>(probe.busy_ns.load()) * 1e-9,
                              .file_bytes = probe.file_bytes.load(),
                              .bytes = probe.bytes.load()});
  }
  report.warnings = warnings_.texts();
  for (const OpenSource& source : sources_.each) {
    for (std::string& text : source.later->texts()) report.warnings.push_back(std::move(text));
  }
  for (const Op* op : ops_in_order(op_)) {
    if (const auto* shuffle = std::get_if<ShuffleOp>(&op->arguments)) report.seeds.push_back(*shuffle->options.seed);
  }
  report.skipped = skipped_->count();
  report.skipped_misfits = skipped_->misfits();
  report.skipped_regions = skipped_->first();
  report.consumer_wait_seconds = report.stages.back().starved_seconds;
  report.waits = wait_reports(page_->words().waits);
  report.replicas = replica_reports(page_->words());
  report.threads = threads_;
  report.io = "engine";
  for (const OpenSource& source : sources_.each) {
    if (const FileProvider* provider = source.options.read.provider.get()) report.io = provider->name();
  }
  report.record_bytes = blocks_.bytes_in_use();
  report.batch_bytes = executor_->ready_bytes();
  report.held_by_consumer_bytes =
      std::max<std::int64_t>(0, buffers_->bytes_in_use() - report.batch_bytes) + blocks_.bytes_held();
  MutexLock lock(position_mutex_);
  report.epoch = epoch_;
  report.batches = batches_;
  return report;
}

void Pipeline::Impl::count_map(const std::string& name, std::int64_t busy_ns, std::int64_t rows) {
  MutexLock lock(counted_mutex_);
  StageProbe*& probe = counted_maps_[name];
  if (probe == nullptr) probe = page_->add_stage("map " + name);
  probe->busy_ns.fetch_add(busy_ns, std::memory_order_relaxed);
  probe->add(rows, 0);
  if (!tracing()) return;
  const std::int64_t end_ns = now_ns();
  trace_span({interned("map " + name), -1, system_thread(), end_ns - busy_ns, end_ns});
}

Pipeline::Pipeline(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;

Pipeline& Pipeline::operator=(Pipeline&& other) noexcept {
  if (this != &other) {
    Pipeline old(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Pipeline::~Pipeline() {
  if (!impl_) return;
  if (impl_->check_process().ok()) {
    impl_->close();
  } else {
    never_destroy(std::move(impl_));
  }
}

Result<std::optional<Batch>> Pipeline::next() {
  Result<std::optional<Batch>> batch = std::optional<Batch>();
  while (next_for(kWaitSlice, &batch) == Wait::kTimeout) {
  }
  return batch;
}

void Pipeline::count_map(const std::string& name, std::int64_t busy_ns, std::int64_t rows) {
  if (impl_->check_process().ok()) impl_->count_map(name, busy_ns, rows);
}

Wait Pipeline::next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  if (Status inherited = impl_->check_process(); !inherited.ok()) {
    *batch = std::move(inherited);
    return Wait::kReady;
  }
  return impl_->next_for(timeout, batch);
}

Result<std::optional<Slice>> Pipeline::next_slice(int replica) {
  Result<std::optional<Slice>> slice = std::optional<Slice>();
  while (next_slice_for(replica, kWaitSlice, &slice) == Wait::kTimeout) {
  }
  return slice;
}

Wait Pipeline::next_slice_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice) {
  if (Status inherited = impl_->check_process(); !inherited.ok()) {
    *slice = std::move(inherited);
    return Wait::kReady;
  }
  return impl_->next_slice_for(replica, timeout, slice);
}

int Pipeline::replicas() const { return impl_->replicas(); }

std::optional<std::int64_t> Pipeline::cardinality() const { return impl_->cardinality(); }

bool Pipeline::has_position() const { return impl_->check_resident().ok(); }

Result<Position> Pipeline::position(int back) const {
  HEADRACE_RETURN_IF_ERROR(impl_->check_process());
  return impl_->position(back);
}

void Pipeline::close() {
  if (impl_->check_process().ok()) impl_->close();
}

}  // namespace headrace

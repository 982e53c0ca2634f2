#include "headrace/pipeline.h"

#include <algorithm>

#include "pipeline/cardinality.h"
#include "pipeline/identity.h"
#include "pipeline/pipeline_impl.h"
#include "runtime/page_report.h"

namespace headrace {
namespace {

// Between two slices of a wait the executor and the feeds look whether it is time for a warning.
constexpr std::chrono::milliseconds kWaitSlice{1000};

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
  if (page_) page_->hide();
}

Wait Pipeline::Impl::next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  waits_->begin();
  const Wait outcome = device_feeds_ ? device_feeds_->next_for(timeout, batch) : fetch_for(timeout, batch);
  if (outcome == Wait::kReady) waits_->end(batch->ok() && (*batch)->has_value());
  return outcome;
}

Wait Pipeline::Impl::fetch_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch) {
  return resident_ ? resident_->next_for(timeout, batch) : execute_for(timeout, batch);
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
  return device_feeds_ ? device_feeds_->next_slice_for(replica, timeout, slice)
                       : feeds_->next_for(replica, timeout, slice);
}

void Pipeline::Impl::settle_position() {
  MutexLock lock(position_mutex_);
  journal_->settle();
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
  const std::int64_t cached = cache_ != nullptr ? cache_->memory_bytes() : 0;
  const std::int64_t smallest = cached + map_bytes_ + blocks_.bytes_in_use() + (depth_ + 1) * batch_bytes;
  if (smallest <= memory_bytes_) return {};
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

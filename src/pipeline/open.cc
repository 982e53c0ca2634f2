#include "pipeline/open.h"

#include <algorithm>
#include <new>

#include "base/environment.h"
#include "headrace/no_memory.h"
#include "pipeline/cache_identity.h"
#include "pipeline/cardinality.h"
#include "pipeline/dealing.h"
#include "pipeline/epoch_counter.h"
#include "pipeline/identity.h"
#include "pipeline/pipeline_impl.h"
#include "pipeline/wiring.h"
#include "runtime/cpu_budget.h"
#include "runtime/run_folder.h"
#include "shard/byte_source.h"
#include "shard/file.h"
#include "shard/remote.h"
#include "tensor/batch_parser.h"
#include "tensor/row_keys.h"

namespace headrace {
namespace {

// Blocks are needed after all parse tasks that are queued already; see WorkerPool.
constexpr TaskPriority kReadPriority = 1'000;

Status check_same(const char* what, const std::string& saved, const std::string& now) {
  if (saved == now) return {};
  return invalid_argument(std::string("the saved position does not fit: ") + what + " changed from '" + saved +
                          "' to '" + now + "'");
}

// A repeat() before a combination: where its epochs begin is not told behind it.
bool mixes_epochs(const OpenSources& sources) {
  const bool is_combined = sources.each.size() > 1;
  return is_combined && std::any_of(sources.each.begin(), sources.each.end(), [](const OpenSource& source) {
           return find_op<RepeatOp>(source.chain.last) != nullptr;
         });
}

}  // namespace

Result<Pipeline> open_pipeline(const std::shared_ptr<const Op>& op, const std::shared_ptr<Dataset::Shared>& shared,
                               const std::optional<Position>& position) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<Pipeline::Impl> impl, Pipeline::Impl::open(op, shared, position));
  return Pipeline(std::move(impl));
}

Result<std::shared_ptr<Pipeline::Impl>> Pipeline::Impl::open(const std::shared_ptr<const Op>& op,
                                                             const std::shared_ptr<Dataset::Shared>& shared,
                                                             const std::optional<Position>& position) {
  std::shared_ptr<Impl> impl(new Impl(op, shared));
  try {
    HEADRACE_RETURN_IF_ERROR(impl->start(position));
  } catch (const std::bad_alloc&) {
    impl->blocks_.stop_recycling();
    throw;
  }
  return impl;
}

Status Pipeline::Impl::make_threads() {
  const ReadOptions& options = read();
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<int> from_environment, environment_threads());
  threads_ = options.num_threads.value_or(from_environment.value_or(cpu_budget()));
  follows_cpus_ = !options.num_threads && !from_environment;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, environment_memory_limit());
  memory_bytes_ = options.memory_bytes.value_or(limit.value_or(0));
  HEADRACE_ASSIGN_OR_RETURN(stall_seconds_, environment_stall_seconds());
  const auto give_up = [this] { executor_->give_up(no_memory()); };
  work_ = std::make_unique<TaskGroup>(WorkerPool::shared(threads_), threads_, give_up);
  const auto io_pool = WorkerPool::shared_io();
  io_ = std::make_unique<TaskGroup>(io_pool, io_pool->threads(), give_up);
  return {};
}

void Pipeline::Impl::make_page() {
  const std::vector<std::string>& items = source_of(sources_.each.front().chain).files.items;
  std::string name = shown_path(items.front());
  const std::size_t more = items.size() + sources_.each.size() - 2;
  if (more > 0) name += " and " + std::to_string(more) + " more";
  const std::string folder = run_folder();
  static const bool is_swept = (sweep_run_folder(folder), true);
  static_cast<void>(is_swept);
  page_ = std::make_unique<StatusPage>(folder, name, threads_, replicas_);
  waits_.emplace(page_.get(), 0);
}

Status Pipeline::Impl::count_map_memory() {
  for (const auto& source : sources_.each) {
    if (source.map != nullptr) map_bytes_ += static_cast<std::int64_t>(source.map->memory_bytes());
  }
  if (memory_bytes_ == 0 || map_bytes_ < memory_bytes_) return {};
  return {StatusCode::kResourceExhausted, "memory_bytes=" + std::to_string(memory_bytes_) +
                                              " is too small for this pipeline: the places of its records alone need " +
                                              std::to_string(map_bytes_)};
}

Status Pipeline::Impl::open_cache(std::int64_t budget) {
  for (const Op* op : ops_in_order(op_)) {
    const auto* cache = std::get_if<CacheOp>(&op->arguments);
    if (cache == nullptr) continue;
    const PipelineCacheOptions options = {.memory_bytes = budget,
                                          .batches_ahead = depth_ + 1,
                                          .batches = stream_elements(op->input, *shared_),
                                          .probe = page_->add_stage("cache")};
    HEADRACE_ASSIGN_OR_RETURN(
        cache_, PipelineCache::open(cache->store, cache_identity(op_, *sources_.shards), buffers_, options));
  }
  return {};
}

Status Pipeline::Impl::start(const std::optional<Position>& position) {
  std::optional<Dealing> dealt_before;
  if (position) {
    HEADRACE_ASSIGN_OR_RETURN(dealt_before, dealing_before(position->spec, op_));
  }
  HEADRACE_ASSIGN_OR_RETURN(sources_, open_sources(op_, shared_, &warnings_));
  HEADRACE_RETURN_IF_ERROR(make_threads());
  HEADRACE_RETURN_IF_ERROR(open_devices());
  make_page();
  if (const auto* resident = find_op<ResidentOp>(op_)) {
    resident_ = std::make_unique<ResidentBatches>(
        resident->batches, resident->count,
        [this](std::chrono::milliseconds timeout, Result<std::optional<Batch>>* fetched) {
          return execute_for(timeout, fetched);
        });
  }
  if (position) HEADRACE_RETURN_IF_ERROR(check_resident());
  const RecordMap* const map = sources_.each.front().map.get();
  HEADRACE_RETURN_IF_ERROR(count_map_memory());
  const std::int64_t budget = memory_bytes_ == 0 ? 0 : memory_bytes_ - map_bytes_;
  skipped_ = std::make_unique<SkipLog>(read().max_skipped);
  const std::optional<Schema> schema = parsed_schema(op_);
  if (!schema && find_op<EnumerateOp>(op_) != nullptr) {
    return invalid_argument("enumerate() needs parse() behind it: its numbers are a column beside the features");
  }
  parser_ = schema ? make_example_parser(*schema, buffers_) : make_records_parser(buffers_);

  ExecutorParts parts;
  parts.read = page_->add_stage("read");
  parts.order = page_->add_stage("order");
  parts.parse = page_->add_stage("parse");
  parts.deliver = page_->add_stage("deliver");
  maps_ = std::make_unique<SliceMaps>(op_, page_.get());
  HEADRACE_RETURN_IF_ERROR(open_cache(budget));

  SourceContext context;
  context.shards = sources_.shards;
  context.blocks = &blocks_;
  context.work = work_.get();
  context.io = io_.get();
  context.priority = kReadPriority;
  context.skipped = skipped_.get();
  context.warnings = &warnings_;
  context.wait = &read_wait_;
  context.probe = parts.read;
  read_probe_ = parts.read;
  context.inflate = &inflate_probes_;
  context.lengths = std::make_shared<KnownLengths>();
  loader_ = std::make_unique<RecordLoader>(sources_.shards, read().verify, map != nullptr);
  context.loader = loader_.get();
  if (memory_bytes_ > 0) {
    blocks_.set_budget(1);  // nothing is read ahead until a batch is measured
    context.check_memory = [this]() -> Status {
      Status enough = check_gathered_memory();
      if (enough.ok()) return enough;
      executor_->give_up(enough);  // what was gathered is not delivered before it
      return cancelled("stopped for want of memory");
    };
  }
  for (const OpenSource& source : sources_.each) {
    open_shards_ += std::min<std::int64_t>(source.options.cycle_length + source.options.shards_ahead,
                                           std::ssize(sources_.shards->files));
  }
  stage_ = wire_stages(
      op_, context, sources_,
      [this](const RecordBatch& records, const std::stop_token& stop) {
        return executor_->find_misfits(records, stop);
      },
      cache_.get(), dealt_before);

  const Op* batching = batching_op(op_);
  const auto* batch = batching != nullptr ? std::get_if<BatchOp>(&batching->arguments) : nullptr;
  parts.stage = stage_.get();
  parts.parser = parser_.get();
  parts.blocks = &blocks_;
  parts.buffers = buffers_.get();
  parts.work = work_.get();
  parts.shards = sources_.shards.get();
  parts.read_wait = &read_wait_;
  parts.warnings = &warnings_;
  parts.trace = &trace_;
  parts.cache = cache_.get();
  parts.loader = loader_.get();
  parts.maps = maps_.get();
  parts.replicas = replica_plan(op_);
  parts.parses_all = read().on_mismatch == OnMismatch::kSkip;
  parts.origin = schema && schema->origin;
  parts.pins_records = schema && schema->has_views();
  if (schema && draws_numbers(*schema)) {
    const auto* shuffle = find_op<ShuffleOp>(op_);
    parts.draws.emplace();
    if (shuffle != nullptr) parts.draws->seed = static_cast<std::uint64_t>(shuffle->options.seed.value_or(0));
    parts.draws->mixes_epochs = (shuffle != nullptr && shuffle->options.mix_epochs) || mixes_epochs(sources_);
  }
  parts.drop_remainder = batch != nullptr && batch->options.drop_remainder;
  parts.skipped = skipped_.get();
  parts.max_in_flight = depth_ + std::max(2, threads_.load());
  parts.first_number = position ? position->batches : 0;
  parts.stall_seconds = stall_seconds_;
  parts.memory_bytes = budget;
  parts.kept_batches = depth_;
  parts.settle = [this] {
    settle_position();
    if (follows_cpus_) follow_cpus();
  };
  parts.check_memory = [this](std::int64_t bytes) { return check_memory(bytes); };
  executor_ = std::make_unique<Executor>(parts);
  make_feeds(parts.first_number);

  // From here on there are tasks, whose failures the executor gets.
  {
    MutexLock lock(position_mutex_);
    epoch_ = position ? position->epoch : shared_->next_epoch.load();
    batches_ = position ? position->batches : 0;
    journal_.emplace(DecodedState(), batches_, epoch_);
  }
  if (position) {
    HEADRACE_RETURN_IF_ERROR(restore(*position, context, dealt_before.has_value()));
  } else {
    stage_->begin_epoch(static_cast<std::uint64_t>(shared_->next_epoch.load()));
  }
  executor_->start();
  return {};
}

Status Pipeline::Impl::open_devices() {
  const auto* op = find_op<DeviceOp>(op_);
  if (op == nullptr) return {};
  replicas_ = static_cast<int>(op->devices.size());
  depth_ = op->options.depth;
  HEADRACE_ASSIGN_OR_RETURN(OpenDevices opened,
                            headrace::open_devices(op->devices, environment_cuda_library(), &warnings_));
  if (opened.staging != nullptr) buffers_ = std::make_shared<BufferPool>(std::move(opened.staging));
  targets_ = std::move(opened.targets);
  return {};
}

void Pipeline::Impl::make_feeds(std::int64_t first_number) {
  // What leads waits in the memory of its device; of the others' slices, one each is on the host. Who takes them from there are
  // the feeds, whose waits are not those of a consumer.
  const int max_lead = targets_.empty() ? depth_ + 2 : 1;
  feeds_ = std::make_unique<Feeds>(
      replicas_, max_lead, stall_seconds_,
      [this](std::chrono::milliseconds timeout, Result<std::optional<Batch>>* fetched) {
        return fetch_for(timeout, fetched);
      },
      &warnings_, targets_.empty() ? page_.get() : nullptr, executor_->stop_token());
  if (targets_.empty()) return;
  device_feeds_ = std::make_unique<DeviceFeeds>(std::move(targets_), depth_, first_number, feeds_.get(), page_.get(),
                                                executor_->stop_token());
}

Status Pipeline::Impl::restore(const Position& position, const SourceContext& context, bool is_dealt_anew) {
  if (position.format != 1) {
    return invalid_argument("the saved position has format " + std::to_string(position.format) +
                            "; this library reads format 1");
  }
  HEADRACE_RETURN_IF_ERROR(
      check_same("stream_version", std::to_string(position.stream_version), std::to_string(read().stream_version)));
  HEADRACE_RETURN_IF_ERROR(check_same("the list of files", position.files, shards_identity(*sources_.shards)));
  if (!is_dealt_anew) {
    HEADRACE_RETURN_IF_ERROR(check_same("the pipeline", position.spec, order_spec(op_)));
  }
  if (position.batches < 0 || position.epoch < 0) {
    return invalid_argument("the saved position is damaged: negative batches or epoch");
  }
  if (position.data.empty()) {
    stage_->begin_epoch(static_cast<std::uint64_t>(position.epoch));
    return {};
  }
  HEADRACE_ASSIGN_OR_RETURN(DecodedState state, decode_state(position.data));
  SourceOptions options = sources_.each.front().options;
  for (const OpenSource& source : sources_.each) options.late_reading &= source.options.late_reading;
  const std::unique_ptr<RecordFetcher> fetcher = make_fetcher(context, options);
  StateReader reader(state.words, &state.slots);
  HEADRACE_RETURN_IF_ERROR(stage_->restore(&reader, fetcher.get()));
  if (!reader.at_end()) return invalid_argument("the saved position is damaged: it is longer than the pipeline");
  if (is_dealt_anew) {
    StateDelta anew;
    stage_->save(&anew);
    apply(anew, &state);
  }
  MutexLock lock(position_mutex_);
  journal_.emplace(std::move(state), position.batches, position.epoch);
  return {};
}

}  // namespace headrace

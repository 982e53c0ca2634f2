#include "headrace/dataset.h"

#include <algorithm>
#include <random>

#include "base/environment.h"
#include "headrace/index.h"
#include "pipeline/cardinality.h"
#include "pipeline/dataset_state.h"
#include "pipeline/grammar.h"
#include "pipeline/op.h"
#include "pipeline/open.h"
#include "replica/plan.h"
#include "shard/file_list.h"

namespace headrace {

// The one place that makes datasets: checks the order, gives the id, keeps the first failure.
class DatasetBuilder {
 public:
  template <class Arguments>
  static Dataset extend(const Dataset& input, Status argument_check, Arguments arguments) {
    Dataset result = input;
    if (!result.status_.ok()) return result;
    Op op{input.op_->id + 1, input.op_, std::move(arguments)};
    result.status_ = argument_check.ok() ? check_order(input.op_, op) : std::move(argument_check);
    if (!result.status_.ok()) return result;
    result.op_ = std::make_shared<const Op>(std::move(op));
    result.shared_ = std::make_shared<Dataset::Shared>();
    if (const auto* cardinality = find_op<CardinalityOp>(result.op_)) {
      result.shared_->source_records = cardinality->records;
    }
    return result;
  }

  static Dataset source(Status check, SourceOp op) {
    Dataset dataset;
    dataset.shared_ = std::make_shared<Dataset::Shared>();
    dataset.status_ = std::move(check);
    if (dataset.status_.ok() && op.files.items.empty()) {
      dataset.status_ = invalid_argument(source_name(op) + "(): files is empty: nothing to read");
    }
    dataset.op_ = std::make_shared<const Op>(Op{0, nullptr, std::move(op)});
    return dataset;
  }
};

namespace {

Status at_least(const char* op, const char* name, std::int64_t value, std::int64_t minimum) {
  if (value >= minimum) return {};
  return invalid_argument(std::string(op) + "(): " + name + "=" + std::to_string(value) +
                          " must be >= " + std::to_string(minimum));
}

Status first_failure(std::initializer_list<Status> checks) {
  for (const Status& check : checks) {
    if (!check.ok()) return check;
  }
  return {};
}

Status check_read_options(const SourceOp& source) {
  const ReadOptions& options = source.options;
  const std::string op = source_name(source);
  if (options.stream_version != 1) {
    return invalid_argument(op + "(): stream_version=" + std::to_string(options.stream_version) +
                            " is not known; this library makes version 1");
  }
  return first_failure({at_least(op.c_str(), "max_skipped", options.max_skipped, 0),
                        at_least(op.c_str(), "max_record_bytes", options.max_record_bytes.value_or(1), 1),
                        at_least(op.c_str(), "num_threads", options.num_threads.value_or(1), 1),
                        at_least(op.c_str(), "memory_bytes", options.memory_bytes.value_or(1), 1),
                        check_environment()});
}

Dataset make_source_dataset(SourceOp op) {
  Status check = check_read_options(op);
  return DatasetBuilder::source(std::move(check), std::move(op));
}

std::int64_t draw_seed() {
  std::random_device device;
  return static_cast<std::int64_t>((std::uint64_t{device()} << 32 | device()) >> 1);
}

}  // namespace

Dataset TFRecordDataset(Files files, const ReadOptions& options) {
  return make_source_dataset({std::move(files), options});
}

Dataset FileDataset(Files files, const ReadOptions& options) {
  return make_source_dataset({std::move(files), options, true});
}

Dataset Dataset::interleave(const InterleaveOptions& options) const {
  return DatasetBuilder::extend(*this,
                                first_failure({at_least("interleave", "cycle_length", options.cycle_length, 1),
                                               at_least("interleave", "block_length", options.block_length, 1)}),
                                InterleaveOp{options});
}

Dataset Dataset::repeat(std::optional<std::int64_t> count) const {
  return DatasetBuilder::extend(*this, at_least("repeat", "count", count.value_or(-1), -1),
                                RepeatOp{count.value_or(-1)});
}

Dataset Dataset::shuffle(const ShuffleOptions& options) const {
  ShuffleOptions with_seed = options;
  if (!with_seed.seed) with_seed.seed = draw_seed();
  return DatasetBuilder::extend(*this, at_least("shuffle", "buffer_size", options.buffer_size, 1),
                                ShuffleOp{with_seed});
}

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index) const {
  Status check = first_failure({at_least("shard", "num_shards", num_shards, 1), at_least("shard", "index", index, 0)});
  if (check.ok() && index >= num_shards) {
    check = invalid_argument("shard(): index=" + std::to_string(index) +
                             " must be below num_shards=" + std::to_string(num_shards));
  }
  return DatasetBuilder::extend(*this, std::move(check), ShardOp{num_shards, index});
}

Dataset Dataset::filter(Filter filter) const {
  Status check = filter.validate();
  return DatasetBuilder::extend(*this, std::move(check), FilterOp{std::move(filter)});
}

Dataset Dataset::take(std::int64_t count) const {
  return DatasetBuilder::extend(*this, at_least("take", "count", count, -1), TakeOp{count});
}

Dataset Dataset::skip(std::int64_t count) const {
  return DatasetBuilder::extend(*this, at_least("skip", "count", count, -1), SkipOp{count});
}

Dataset Dataset::batch(const BatchOptions& options) const {
  return DatasetBuilder::extend(*this, at_least("batch", "batch_size", options.size, 1), BatchOp{options});
}

Dataset Dataset::parse(Schema schema) const {
  Status check = schema.validate();
  return DatasetBuilder::extend(*this, std::move(check), ParseOp{std::move(schema)});
}

Dataset Dataset::map(MapOptions options) const {
  Status check;
  if (options.function == nullptr) check = invalid_argument("map(): there is no function");
  if (const auto* parse = find_op<ParseOp>(op_)) {
    const std::vector<Feature>& features = parse->schema.features;
    for (const std::string& name : options.columns) {
      const bool known = std::any_of(features.begin(), features.end(),
                                     [&name](const Feature& feature) { return feature.name == name; });
      if (!known && check.ok()) check = invalid_argument("map(): parse() makes no column '" + name + "'");
    }
  }
  return DatasetBuilder::extend(*this, std::move(check), MapOp{std::move(options)});
}

Dataset Dataset::prefetch_to_device(const DeviceOptions& options) const {
  Status check = at_least("prefetch_to_device", "depth", options.depth, 1);
  std::vector<Device> devices;
  if (check.ok() && options.devices.empty()) check = invalid_argument("prefetch_to_device(): devices is empty");
  for (const std::string& name : options.devices) {
    if (!check.ok()) break;
    Result<Device> device = parse_device(name);
    if (!device.ok()) {
      check = device.status();
    } else if (device->kind != DeviceKind::kHost) {
      check = Status(StatusCode::kDevice, "prefetch_to_device(): " + device->name +
                                              " cannot be used: this build delivers to host devices (/CPU:n) only");
    } else {
      devices.push_back(std::move(*device));
    }
  }
  const auto* batch = find_op<BatchOp>(op_);
  if (check.ok() && batch != nullptr) check = check_global_batch(batch->options.size, static_cast<int>(devices.size()));
  return DatasetBuilder::extend(*this, std::move(check), DeviceOp{options, std::move(devices)});
}

Dataset Dataset::assert_cardinality(std::int64_t records) const {
  return DatasetBuilder::extend(*this, at_least("assert_cardinality", "records", records, 0), CardinalityOp{records});
}

std::vector<OpDescription> Dataset::ops() const {
  std::vector<OpDescription> descriptions;
  for (const Op* op : ops_in_order(op_)) descriptions.push_back({op->id, op_name(*op), op_arguments(*op)});
  return descriptions;
}

std::optional<std::int64_t> Dataset::cardinality() const {
  // An endless stream is endless whatever the source has, unless it has nothing, which open() finds out.
  const std::int64_t records = shared_->source_records;
  if (records >= 0) return stream_elements(op_, records, false);
  if (stream_elements(op_, 1, false) == kEndless) return kEndless;
  return std::nullopt;
}

std::optional<std::int64_t> Dataset::epoch_cardinality() const {
  const std::int64_t records = shared_->source_records;
  if (records < 0) return std::nullopt;
  return stream_elements(op_, records, true);
}

Result<bool> Dataset::find_indexes() const {
  HEADRACE_RETURN_IF_ERROR(status_);
  const auto* source = find_op<SourceOp>(op_);
  HEADRACE_ASSIGN_OR_RETURN(const ShardList shards, find_shards(file_spec(*source)));
  std::int64_t records = source->whole_files ? std::ssize(shards.files) : 0;
  for (const ShardFile& file : shards.files) {
    if (source->whole_files) break;
    HEADRACE_ASSIGN_OR_RETURN(const std::optional<RecordIndex> index, find_index(file.path));
    if (!index) return false;
    records += std::ssize(index->lengths);
  }
  std::int64_t unknown = -1;
  shared_->source_records.compare_exchange_strong(unknown, records);
  return true;
}

void Dataset::set_epoch(std::int64_t epoch) const { shared_->next_epoch = epoch; }

std::int64_t Dataset::next_epoch() const { return shared_->next_epoch; }

Result<std::vector<std::string>> Dataset::check() const {
  HEADRACE_RETURN_IF_ERROR(status_);
  const auto* source = find_op<SourceOp>(op_);
  HEADRACE_ASSIGN_OR_RETURN(ShardList shards, find_shards(file_spec(*source)));
  return shards.warnings;
}

Result<Pipeline> Dataset::open(const std::optional<Position>& position) const {
  HEADRACE_RETURN_IF_ERROR(status_);
  return open_pipeline(op_, shared_, position);
}

}  // namespace headrace

#include "headrace/dataset.h"

#include <algorithm>
#include <random>

#include "base/environment.h"
#include "headrace/index.h"
#include "pipeline/assignment.h"
#include "pipeline/cache_store.h"
#include "pipeline/cardinality.h"
#include "pipeline/check_arguments.h"
#include "pipeline/dataset_builder.h"
#include "pipeline/op.h"
#include "pipeline/open.h"
#include "pipeline/open_sources.h"
#include "pipeline/padded_batch.h"
#include "pipeline/source_files.h"

namespace headrace {
namespace {

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
                        at_least(op.c_str(), "cache_bytes", options.cache_bytes.value_or(1), 1), check_environment()});
}

Dataset make_source_dataset(SourceOp op) {
  Status check = check_read_options(op);
  if (check.ok() && op.files.items.empty()) {
    check = invalid_argument(source_name(op) + "(): files is empty: nothing to read");
  }
  return DatasetBuilder::begin(std::move(check), Op{0, nullptr, std::move(op)});
}

Status check_global(const ShuffleOptions& options) {
  if (options.mix_epochs) {
    return invalid_argument("shuffle(\"global\"): mix_epochs=True has no meaning without a buffer");
  }
  return at_least("shuffle", "window_bytes", options.window_bytes.value_or(1), 1);
}

Status check_buckets(const BucketOptions& options, const ReadOptions& read) {
  constexpr const char* kOp = "bucket_by_sequence_length(): ";
  if (options.key.empty()) return invalid_argument(std::string(kOp) + "the key is empty");
  if (options.sizes.size() != options.boundaries.size() + 1) {
    return invalid_argument(std::string(kOp) + std::to_string(options.boundaries.size()) +
                            " bucket_boundaries make one bucket more, for which there are " +
                            std::to_string(options.sizes.size()) + " bucket_batch_sizes");
  }
  for (std::size_t i = 1; i < options.boundaries.size(); ++i) {
    if (options.boundaries[i - 1] >= options.boundaries[i]) {
      return invalid_argument(std::string(kOp) +
                              "bucket_boundaries must ascend: " + std::to_string(options.boundaries[i - 1]) +
                              " stands before " + std::to_string(options.boundaries[i]));
    }
  }
  for (const std::int64_t size : options.sizes) {
    HEADRACE_RETURN_IF_ERROR(at_least("bucket_by_sequence_length", "bucket_batch_sizes", size, 1));
  }
  if (read.on_mismatch == OnMismatch::kSkip) {
    return invalid_argument(std::string(kOp) + "on_mismatch=\"skip\" fills the gaps of batch() alone");
  }
  return {};
}

// What padded_batch() asks of the parse() behind it, or null.
const BatchPadding* padding_of(const std::shared_ptr<const Op>& last) {
  const Op* op = batching_op(last);
  const auto* batch = op != nullptr ? std::get_if<BatchOp>(&op->arguments) : nullptr;
  return batch != nullptr && batch->padding ? &*batch->padding : nullptr;
}

}  // namespace

std::int64_t draw_seed() {
  std::random_device device;
  return static_cast<std::int64_t>((std::uint64_t{device()} << 32 | device()) >> 1);
}

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
  Status check = options.global ? check_global(options) : at_least("shuffle", "buffer_size", options.buffer_size, 1);
  if (check.ok() && !options.global && options.window_bytes) {
    check = invalid_argument("shuffle(): window_bytes has a meaning with shuffle(\"global\") only");
  }
  return DatasetBuilder::extend(*this, std::move(check), ShuffleOp{with_seed});
}

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index, const ShardOptions& options) const {
  Status check = first_failure({at_least("shard", "num_shards", num_shards, 1), at_least("shard", "index", index, 0)});
  if (check.ok() && index >= num_shards) {
    check = invalid_argument("shard(): index=" + std::to_string(index) +
                             " must be below num_shards=" + std::to_string(num_shards));
  }
  const ReadOptions& read = read_options(op_);
  const bool skips = read.on_corrupt == OnCorrupt::kSkip || read.on_mismatch == OnMismatch::kSkip;
  if (check.ok() && options.drop_remainder && skips) {
    check = invalid_argument(
        "shard(): drop_remainder gives every worker the same number of steps, which a skip policy may not keep: "
        "on_corrupt and on_mismatch have to be \"raise\"");
  }
  if (check.ok() && num_shards > 1 && options.by == ShardBy::kRecord) check = check_one_order(op_, "shard()");
  return DatasetBuilder::extend(*this, std::move(check), ShardOp{num_shards, index, options});
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

Dataset Dataset::padded_batch(const BatchOptions& options, BatchPadding padding) const {
  return DatasetBuilder::extend(*this, at_least("padded_batch", "batch_size", options.size, 1),
                                BatchOp{options, std::move(padding)});
}

Dataset Dataset::bucket_by_sequence_length(const BucketOptions& options) const {
  return DatasetBuilder::extend(*this, check_buckets(options, read_options(op_)), BucketOp{options});
}

Dataset Dataset::unbatch() const { return DatasetBuilder::extend(*this, Status(), UnbatchOp{}); }

Dataset Dataset::enumerate(std::int64_t start) const {
  Status check;
  if (std::optional<Schema> parsed = parsed_schema(op_)) {
    parsed->index = true;
    check = parsed->validate();
  }
  return DatasetBuilder::extend(*this, std::move(check), EnumerateOp{start});
}

Dataset Dataset::cache(std::string path) const {
  auto store = std::make_shared<CacheStore>(path);
  return DatasetBuilder::extend(*this, Status(), CacheOp{std::move(path), std::move(store)});
}

Dataset Dataset::parse(Schema schema) const {
  schema.index = find_op<EnumerateOp>(op_) != nullptr;
  Status check = schema.validate();
  if (const BatchPadding* padding = padding_of(op_); check.ok() && padding != nullptr) {
    Result<Schema> changed = padded(*padding, std::move(schema));
    if (!changed.ok()) return DatasetBuilder::extend(*this, changed.status(), ParseOp{});
    schema = std::move(*changed);
  }
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

Dataset Dataset::resident(const ResidentOptions& options) const {
  Status check = first_failure({at_least("resident", "batches", options.batches, 1),
                                at_least("resident", "count", options.count.value_or(-1), -1)});
  return DatasetBuilder::extend(*this, std::move(check),
                                ResidentOp{options.batches, options.count.value_or(cardinality().value_or(-1))});
}

Dataset Dataset::assert_cardinality(std::int64_t records) const {
  return DatasetBuilder::extend(*this, at_least("assert_cardinality", "records", records, 0), CardinalityOp{records});
}

std::vector<OpDescription> Dataset::ops() const {
  std::vector<OpDescription> descriptions;
  for (const Op* op : ops_in_order(op_)) descriptions.push_back({op->id, op_name(*op), op_arguments(*op)});
  return descriptions;
}

std::optional<Schema> Dataset::schema() const { return parsed_schema(op_); }

bool Dataset::drops_remainder() const {
  const Op* op = batching_op(op_);
  if (op == nullptr) return false;
  const auto* bucket = std::get_if<BucketOp>(&op->arguments);
  return bucket != nullptr ? bucket->options.drop_remainder : std::get<BatchOp>(op->arguments).options.drop_remainder;
}

std::optional<std::int64_t> Dataset::cardinality() const { return stream_elements(op_, *shared_); }

std::optional<std::int64_t> Dataset::epoch_cardinality() const { return epoch_elements(op_, *shared_); }

Result<bool> Dataset::find_indexes() const {
  HEADRACE_RETURN_IF_ERROR(status_);
  const std::vector<SourceChain> chains = source_chains(op_, shared_);
  // Indexes are those of local files; no server is asked.
  const bool has_remote = std::any_of(chains.begin(), chains.end(), [](const SourceChain& chain) {
    return !reads_whole_files(chain.last) && !reads_local_files(source_of(chain));
  });
  if (has_remote) return false;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ShardList> found, find_files(chains));
  for (std::size_t i = 0; i < chains.size(); ++i) {
    std::vector<RecordIndex> indexes;
    for (const std::uint32_t shard : shards_to_index(chains[i].last, found[i])) {
      HEADRACE_ASSIGN_OR_RETURN(std::optional<RecordIndex> index, find_index(found[i].files[shard].path));
      if (!index) return false;
      indexes.push_back(std::move(*index));
    }
    chains[i].shared->learn(assign(chains[i].last, found[i], std::move(indexes)).records);
  }
  return true;
}

Result<std::vector<std::string>> Dataset::make_indexes() const {
  HEADRACE_RETURN_IF_ERROR(status_);
  const std::vector<SourceChain> chains = source_chains(op_, shared_);
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ShardList> found, find_files(chains));
  WarningLog warnings;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const SourceChain& chain = chains[i];
    HEADRACE_ASSIGN_OR_RETURN(
        std::vector<RecordIndex> indexes,
        find_or_make_indexes(found[i], shards_to_index(chain.last, found[i]), read_options(op_),
                             {.needed_by = "cardinality(scan=True)", .most_seconds = std::nullopt},
                             &chain.shared->indexes, &warnings));
    chain.shared->learn(assign(chain.last, found[i], std::move(indexes)).records);
  }
  return warnings.texts();
}

void Dataset::set_epoch(std::int64_t epoch) const { shared_->next_epoch = epoch; }

std::int64_t Dataset::next_epoch() const { return shared_->next_epoch; }

Result<std::vector<std::string>> Dataset::check() const {
  HEADRACE_RETURN_IF_ERROR(status_);
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ShardList> found, find_files(source_chains(op_, shared_)));
  std::vector<std::string> warnings;
  for (const ShardList& shards : found) warnings.insert(warnings.end(), shards.warnings.begin(), shards.warnings.end());
  return warnings;
}

Result<Pipeline> Dataset::open(const std::optional<Position>& position) const {
  HEADRACE_RETURN_IF_ERROR(status_);
  return open_pipeline(op_, shared_, position);
}

}  // namespace headrace

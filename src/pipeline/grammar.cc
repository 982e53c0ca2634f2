#include "pipeline/grammar.h"

#include "pipeline/cardinality.h"

namespace headrace {
namespace {

constexpr const char* kWorkingOrder =
    "TFRecordDataset -> interleave -> {shard, take, skip, filter, repeat, shuffle, concatenate} -> enumerate -> batch, "
    "padded_batch or bucket_by_sequence_length -> unbatch and again, or parse -> {map, take, skip, repeat, enumerate, "
    "cache} -> resident -> prefetch_to_device";

Status refuse(const Op& next, const std::string& reason) {
  return invalid_argument(op_name(next) + "() " + reason + "; the order that works: " + kWorkingOrder);
}

constexpr const char* kStatedShare =
    "states the records of all files, of which shard(by=\"file\" or \"range\") reads some; the indexes tell, too";

constexpr const char* kOneSource =
    "of all records takes them from one source: combine datasets behind it, or use a buffer";

constexpr const char* kNoIndex = "needs indexes, which FileDataset has none of; share out or shuffle its list of files";

// A shard() that says which files or which range of records is read.
bool is_source_share(const Op& op) {
  const auto* shard = std::get_if<ShardOp>(&op.arguments);
  return shard != nullptr && shard->options.by != ShardBy::kRecord;
}

Status check_source_share(const std::shared_ptr<const Op>& last, const Op& next) {
  const ShardOptions& options = std::get<ShardOp>(next.arguments).options;
  if (reads_whole_files(last) && (options.by == ShardBy::kRange || options.drop_remainder))
    return refuse(next, kNoIndex);
  for (const Op* op : ops_in_order(last)) {
    if (std::holds_alternative<CardinalityOp>(op->arguments)) return refuse(*op, kStatedShare);
    if (!std::holds_alternative<SourceOp>(op->arguments) && !std::holds_alternative<InterleaveOp>(op->arguments)) {
      return refuse(next, "by file or range must stand right behind the source, not behind " + op_name(*op) + "()");
    }
  }
  return {};
}

// What stands before it has to be a matter of counting, for nothing is read to know what comes.
Status check_global_shuffle(const std::shared_ptr<const Op>& last, const Op& next) {
  if (reads_whole_files(last)) return refuse(next, kNoIndex);
  const Op* repeat = nullptr;
  for (const Op* op : ops_in_order(last)) {
    const auto is = [op]<class T>(std::type_identity<T>) { return std::holds_alternative<T>(op->arguments); };
    if (is(std::type_identity<CombineOp>())) return refuse(next, kOneSource);
    if (is(std::type_identity<RepeatOp>())) repeat = op;
    if (is(std::type_identity<InterleaveOp>())) {
      return refuse(next, "of all records decides the order anew: leave interleave() out");
    }
    if (is(std::type_identity<FilterOp>()) || is(std::type_identity<ShuffleOp>()) ||
        is(std::type_identity<UnbatchOp>())) {
      return refuse(next, "of all records needs to know which ones come, without reading them: " + op_name(*op) +
                              "() must stand behind it");
    }
  }
  if (repeat != nullptr && repeat != last.get()) {
    return refuse(next, "of all records takes one epoch: repeat() must stand right before or behind it");
  }
  return {};
}

template <class T>
bool has(const std::shared_ptr<const Op>& last) {
  return find_op<T>(last) != nullptr;
}

Status check_unbatch(const std::shared_ptr<const Op>& last, const Op& next) {
  if (has<ParseOp>(last))
    return refuse(next, "works on records that are not parsed: put it, and the batch() to come, before parse()");
  const Op* batching = batching_op(last);
  if (batching == nullptr) return refuse(next, "needs batch() before it");
  const auto* batch = std::get_if<BatchOp>(&batching->arguments);
  if (batch != nullptr && batch->padding)
    return refuse(next, "would undo padded_batch(), for records are padded when they are parsed: use batch()");
  if (has<EnumerateOp>(last)) return refuse(next, "would undo enumerate(): put that behind it");
  return {};
}

Status check_enumerate(const std::shared_ptr<const Op>& last, const Op& next) {
  if (has<EnumerateOp>(last)) return refuse(next, "is there already");
  if (read_options(last).on_mismatch == OnMismatch::kSkip) {
    return refuse(next, "numbers rows before it is known which ones on_mismatch=\"skip\" leaves out");
  }
  if (has<CacheOp>(last)) return refuse(next, "must stand before cache(): its numbers are a column of what is cached");
  return {};
}

Status check_cache(const std::shared_ptr<const Op>& last, const Op& next) {
  if (has<CacheOp>(last)) return refuse(next, "is there already");
  const auto* parse = find_op<ParseOp>(last);
  if (parse == nullptr) return refuse(next, "keeps parsed batches: it needs batch() and parse() before it");
  if (parse->schema.has_views()) return refuse(next, "needs copies of the values, which view=True makes none of");
  // What is endless is so however many records there are.
  if (stream_elements(last, 1, false) == kEndless) {
    return refuse(next, "keeps all that comes: an endless repeat() must stand behind it");
  }
  return {};
}

// The records are numbered as the batches are made of them.
Status check_behind_enumerate(const std::shared_ptr<const Op>& last, const Op& next) {
  if (!std::holds_alternative<EnumerateOp>(last->arguments) || is_batched(last)) return {};
  if (std::holds_alternative<BatchOp>(next.arguments)) return {};
  return refuse(next, "cannot stand behind enumerate(), which has to stand right before batch() or padded_batch()");
}

}  // namespace

Status check_order(const std::shared_ptr<const Op>& last, const Op& next) {
  const bool batched = is_batched(last);
  const auto is = [&next]<class T>(std::type_identity<T>) { return std::holds_alternative<T>(next.arguments); };
  const bool is_resident = is(std::type_identity<ResidentOp>());
  if (has<DeviceOp>(last) && !is_resident) return refuse(next, "comes after prefetch_to_device(), which must be last");
  if (has<ResidentOp>(last) && !is(std::type_identity<DeviceOp>())) {
    return refuse(next, "comes after resident(), behind which only prefetch_to_device() can stand");
  }
  HEADRACE_RETURN_IF_ERROR(check_behind_enumerate(last, next));
  if (std::holds_alternative<UnbatchOp>(next.arguments)) HEADRACE_RETURN_IF_ERROR(check_unbatch(last, next));
  if (std::holds_alternative<CacheOp>(next.arguments)) HEADRACE_RETURN_IF_ERROR(check_cache(last, next));
  if (std::holds_alternative<EnumerateOp>(next.arguments)) HEADRACE_RETURN_IF_ERROR(check_enumerate(last, next));
  if (is(std::type_identity<InterleaveOp>())) {
    for (const Op* op : ops_in_order(last)) {
      if (!std::holds_alternative<SourceOp>(op->arguments) && !std::holds_alternative<CardinalityOp>(op->arguments) &&
          !is_source_share(*op)) {
        return refuse(next, "must stand right behind the source, not behind " + op_name(*op) + "()");
      }
    }
  }
  if (is_source_share(next)) HEADRACE_RETURN_IF_ERROR(check_source_share(last, next));
  if (is(std::type_identity<CardinalityOp>())) {
    if (has<CombineOp>(last)) return refuse(next, "states the records of one source: put it on each dataset");
    for (const Op* op : ops_in_order(last)) {
      if (is_source_share(*op)) return refuse(next, kStatedShare);
    }
  }
  const auto* shard = std::get_if<ShardOp>(&next.arguments);
  if (shard != nullptr && shard->options.drop_remainder && has<CombineOp>(last)) {
    return refuse(next, "with drop_remainder has to stand before datasets are combined");
  }
  if (shard != nullptr && shard->options.drop_remainder && has<UnbatchOp>(last)) {
    return refuse(next, "with drop_remainder has to stand before records are batched");
  }
  if (shard != nullptr && shard->options.drop_remainder && has<FilterOp>(last)) {
    return refuse(next, "with drop_remainder needs to know how many records come, which filter() decides");
  }
  const auto* shuffle = std::get_if<ShuffleOp>(&next.arguments);
  if (shuffle != nullptr && shuffle->options.global) HEADRACE_RETURN_IF_ERROR(check_global_shuffle(last, next));
  if (is(std::type_identity<ShardOp>()) || is(std::type_identity<ShuffleOp>()) || is(std::type_identity<FilterOp>())) {
    if (batched) return refuse(next, "works on records and must stand before batch()");
  }
  if ((is(std::type_identity<BatchOp>()) || is(std::type_identity<BucketOp>())) && batched) {
    return refuse(next, "is there already: put unbatch() before it to batch anew");
  }
  if (is(std::type_identity<ParseOp>())) {
    if (!batched) return refuse(next, "needs batch() before it: records are parsed a batch at a time");
    if (has<ParseOp>(last)) return refuse(next, "is there already");
  }
  if ((is(std::type_identity<DeviceOp>()) || is(std::type_identity<MapOp>()) || is_resident) && !has<ParseOp>(last)) {
    return refuse(next, "needs batch() and parse() before it");
  }
  return {};
}

Status check_combined(const std::string& step, const std::vector<CombinedInput>& inputs) {
  if (inputs.empty()) return invalid_argument(step + "(): there is no dataset");
  const auto compared = [](const CombinedInput& input) {
    ReadOptions options = read_options(input.last);
    options.compression = CompressionType::kAuto;
    options.max_record_bytes = std::nullopt;
    options.provider = nullptr;
    options.cache_bytes = std::nullopt;
    options.cache_dir.clear();
    return options;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string which = step + "(): dataset " + std::to_string(i);
    if (std::holds_alternative<EnumerateOp>(inputs[i].last->arguments)) {
      return invalid_argument(which + " is enumerated; enumerate the records of all, right before they are batched");
    }
    if (is_batched(inputs[i].last)) return invalid_argument(which + " has batches; combine records, then batch them");
    const auto* shuffle = find_op<ShuffleOp>(inputs[i].last);
    if (shuffle != nullptr && shuffle->options.global) {
      return invalid_argument(which + " is shuffled as a whole, which no other dataset can be combined with");
    }
    if (reads_whole_files(inputs[i].last) != reads_whole_files(inputs[0].last)) {
      return invalid_argument(which + " and dataset 0 are not both a TFRecordDataset or both a FileDataset");
    }
    if (compared(inputs[i]) != compared(inputs[0])) {
      return invalid_argument(which +
                              " is read with other options than dataset 0; all but compression, "
                              "max_record_bytes and those of where files are have to be the same");
    }
  }
  return {};
}

}  // namespace headrace

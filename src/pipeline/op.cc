#include "pipeline/op.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace headrace {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string field(const char* name, std::int64_t value) { return std::string(name) + "=" + std::to_string(value); }

std::string field(const char* name, const std::string& value) { return std::string(name) + "=" + value; }

template <class Number>
std::string numbers(const char* name, const std::vector<Number>& values) {
  std::string text;
  for (const Number value : values) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    text += (text.empty() ? "" : "/") + std::string(digits, end.ptr);
  }
  return field(name, text);
}

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

const SourceOp& first_source(const std::shared_ptr<const Op>& last) {
  const Op* op = ops_in_order(last).front();
  if (const auto* combine = std::get_if<CombineOp>(&op->arguments)) return first_source(combine->inputs.front().last);
  return std::get<SourceOp>(op->arguments);
}

}  // namespace

std::string source_name(const SourceOp& source) { return source.whole_files ? "FileDataset" : "TFRecordDataset"; }

FileSpec file_spec(const SourceOp& source) {
  return {.items = source.files.items,
          .is_list = source.files.is_list,
          .kind = source.whole_files ? FileKind::kAny : FileKind::kRecords};
}

std::string op_name(const Op& op) {
  const auto* source = std::get_if<SourceOp>(&op.arguments);
  if (source != nullptr && source->whole_files) return "files";
  static constexpr const char* kNames[] = {"tfrecord",
                                           "interleave",
                                           "repeat",
                                           "shuffle",
                                           "shard",
                                           "take",
                                           "skip",
                                           "batch",
                                           "parse",
                                           "prefetch_to_device",
                                           "assert_cardinality",
                                           "filter",
                                           "map",
                                           "bucket_by_sequence_length",
                                           "resident",
                                           "",  // a combination: see below
                                           "unbatch",
                                           "enumerate",
                                           "cache"};
  if (const auto* combine = std::get_if<CombineOp>(&op.arguments)) {
    static constexpr const char* kCombinations[] = {"concatenate", "sample_from_datasets", "choose_from_datasets"};
    return kCombinations[combine->how.index()];
  }
  const auto* batch = std::get_if<BatchOp>(&op.arguments);
  if (batch != nullptr && batch->padding) return "padded_batch";
  return kNames[op.arguments.index()];
}

// Nothing where all are equal, which is the usual case.
std::string weights_text(const std::vector<std::int64_t>& weights) {
  if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end()) return "";
  std::string text;
  for (const std::int64_t weight : weights) text += (text.empty() ? ",weights=" : ":") + std::to_string(weight);
  return text;
}

std::string op_arguments(const Op& op) {
  return std::visit(
      Overloaded{
          [](const SourceOp& source) {
            std::string text = join({field("on_corrupt", static_cast<int>(source.options.on_corrupt)),
                                     field("stream_version", source.options.stream_version)});
            if (source.options.on_mismatch == OnMismatch::kSkip) text += ",on_mismatch=1";
            return text;
          },
          [](const InterleaveOp& interleave) {
            return join({field("cycle_length", interleave.options.cycle_length),
                         field("block_length", interleave.options.block_length)});
          },
          [](const RepeatOp& repeat) { return field("count", repeat.count); },
          [](const ShuffleOp& shuffle) {
            const ShuffleOptions& o = shuffle.options;
            if (o.global) {
              return join({"global", field("seed", *o.seed),
                           field("reshuffle_each_iteration", o.reshuffle_each_iteration),
                           field("window_bytes", o.window_bytes.value_or(0))});
            }
            return join({field("buffer_size", o.buffer_size), field("seed", *o.seed),
                         field("reshuffle_each_iteration", o.reshuffle_each_iteration),
                         field("mix_epochs", o.mix_epochs)});
          },
          [](const ShardOp& shard) {
            std::string text = join({field("num_shards", shard.num_shards), field("index", shard.index)});
            if (shard.options.by != ShardBy::kRecord) text += "," + field("by", static_cast<int>(shard.options.by));
            if (shard.options.drop_remainder) text += ",drop_remainder=1";
            return text;
          },
          [](const TakeOp& take) { return field("count", take.count); },
          [](const SkipOp& skip) { return field("count", skip.count); },
          [](const BatchOp& batch) {
            return join({field("size", batch.options.size), field("drop_remainder", batch.options.drop_remainder)});
          },
          [](const ParseOp& parse) {
            std::string names;
            for (const Feature& feature : parse.schema.features) names += (names.empty() ? "" : ",") + feature.name;
            return names;
          },
          [](const DeviceOp& device) {
            std::string names;
            for (const Device& d : device.devices) names += (names.empty() ? "" : ",") + d.name;
            std::string text = names + "," + field("depth", device.options.depth);
            if (device.options.remainder == Remainder::kPad) text += ",remainder=pad";
            if (const auto& local = device.options.local) {
              text += ",local=" + std::to_string(local->first) + "+" + std::to_string(local->count) + "/" +
                      std::to_string(device.options.weights.size());
            }
            return text + weights_text(device.options.weights);
          },
          [](const ResidentOp& resident) {
            return join({field("batches", resident.batches), field("count", resident.count)});
          },
          [](const CardinalityOp& cardinality) { return field("records", cardinality.records); },
          [](const FilterOp& filter) { return filter.filter.text(); },
          [](const BucketOp& bucket) {
            const BucketOptions& o = bucket.options;
            return join({field("key", o.key), numbers("boundaries", o.boundaries), numbers("sizes", o.sizes),
                         field("drop_remainder", o.drop_remainder), field("sequence", o.sequence)});
          },
          [](const UnbatchOp&) { return std::string(); }, [](const CacheOp&) { return std::string(); },
          [](const EnumerateOp& enumerate) { return field("start", enumerate.start); },
          [](const CombineOp& combine) {
            std::string text = std::visit(
                Overloaded{[](const ConcatenateOp&) { return std::string(); },
                           [](const SampleOp& sample) {
                             const SampleOptions& o = sample.options;
                             return join({numbers("weights", o.weights), field("seed", *o.seed),
                                          field("stop_on_empty", o.stop_on_empty),
                                          field("rerandomize_each_iteration", o.rerandomize_each_iteration)});
                           },
                           [](const ChooseOp& choose) {
                             return join({numbers("choices", choose.options.choices),
                                          field("stop_on_empty", choose.options.stop_on_empty)});
                           }},
                combine.how);
            for (const CombinedInput& input : combine.inputs) text += "{" + order_spec(input.last) + "}";
            return text;
          },
          [](const MapOp& map) {
            std::string text = map.options.name;
            for (const std::string& column : map.options.columns) text += "," + column;
            return text;
          }},
      op.arguments);
}

std::vector<const Op*> ops_in_order(const std::shared_ptr<const Op>& last) {
  std::vector<const Op*> ops;
  for (const Op* op = last.get(); op != nullptr; op = op->input.get()) ops.push_back(op);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

const Op* batching_op(const std::shared_ptr<const Op>& last) {
  for (const Op* op = last.get(); op != nullptr; op = op->input.get()) {
    if (std::holds_alternative<UnbatchOp>(op->arguments)) return nullptr;
    if (std::holds_alternative<BatchOp>(op->arguments) || std::holds_alternative<BucketOp>(op->arguments)) return op;
  }
  return nullptr;
}

std::shared_ptr<const Op> dropping_remainder(const std::shared_ptr<const Op>& last) {
  Op changed = *last;
  if (auto* batch = std::get_if<BatchOp>(&changed.arguments)) {
    batch->options.drop_remainder = true;
  } else if (auto* bucket = std::get_if<BucketOp>(&changed.arguments)) {
    bucket->options.drop_remainder = true;
  } else {
    changed.input = dropping_remainder(last->input);
  }
  return std::make_shared<const Op>(std::move(changed));
}

ReplicaPlan replica_plan(const std::shared_ptr<const Op>& last) {
  const auto* device = find_op<DeviceOp>(last);
  if (device == nullptr) return {};
  ReplicaPlan plan{.weights = device->options.weights, .pads = device->options.remainder == Remainder::kPad};
  if (const auto& local = device->options.local) {
    plan.first = static_cast<std::size_t>(local->first);
    plan.local = static_cast<std::size_t>(local->count);
  }
  return plan;
}

std::optional<Schema> parsed_schema(const std::shared_ptr<const Op>& last) {
  const auto* parse = find_op<ParseOp>(last);
  if (parse == nullptr) return std::nullopt;
  Schema schema = parse->schema;
  schema.index |= find_op<EnumerateOp>(last) != nullptr;
  schema.mask = replica_plan(last).pads;
  return schema;
}

const ReadOptions& read_options(const std::shared_ptr<const Op>& last) { return first_source(last).options; }

Status check_one_order(const std::shared_ptr<const Op>& last, const std::string& what) {
  for (const Op* op : ops_in_order(last)) {
    if (const auto* combination = std::get_if<CombineOp>(&op->arguments)) {
      for (const CombinedInput& input : combination->inputs) {
        HEADRACE_RETURN_IF_ERROR(check_one_order(input.last, what));
      }
    }
    const auto* interleave = std::get_if<InterleaveOp>(&op->arguments);
    if (interleave != nullptr && interleave->options.cycle_length > 1 && !read_options(last).deterministic) {
      return invalid_argument(
          what +
          ": every process has to see the records in the same order, which deterministic=False does "
          "not keep");
    }
  }
  return {};
}

bool reads_whole_files(const std::shared_ptr<const Op>& last) { return first_source(last).whole_files; }

std::string order_spec(const std::shared_ptr<const Op>& last) {
  std::string text;
  for (const Op* op : ops_in_order(last)) {
    const bool decides =
        !std::holds_alternative<ParseOp>(op->arguments) && !std::holds_alternative<MapOp>(op->arguments) &&
        !std::holds_alternative<DeviceOp>(op->arguments) && !std::holds_alternative<CardinalityOp>(op->arguments);
    if (decides) text += (text.empty() ? "" : ";") + op_name(*op) + "(" + op_arguments(*op) + ")";
  }
  return text;
}

}  // namespace headrace

#include "pipeline/op.h"

#include <algorithm>

namespace headrace {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string field(const char* name, std::int64_t value) { return std::string(name) + "=" + std::to_string(value); }

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

std::string source_name(const SourceOp& source) { return source.whole_files ? "FileDataset" : "TFRecordDataset"; }

FileSpec file_spec(const SourceOp& source) {
  return {source.files.items, source.files.is_list, source.whole_files ? FileKind::kAny : FileKind::kRecords};
}

std::string op_name(const Op& op) {
  const auto* source = std::get_if<SourceOp>(&op.arguments);
  if (source != nullptr && source->whole_files) return "files";
  static constexpr const char* kNames[] = {
      "tfrecord",           "interleave",         "repeat", "shuffle", "shard", "take", "skip", "batch", "parse",
      "prefetch_to_device", "assert_cardinality", "filter", "map"};
  return kNames[op.arguments.index()];
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
            return join({field("buffer_size", o.buffer_size), field("seed", *o.seed),
                         field("reshuffle_each_iteration", o.reshuffle_each_iteration),
                         field("mix_epochs", o.mix_epochs)});
          },
          [](const ShardOp& shard) {
            return join({field("num_shards", shard.num_shards), field("index", shard.index)});
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
            return names + "," + field("depth", device.options.depth);
          },
          [](const CardinalityOp& cardinality) { return field("records", cardinality.records); },
          [](const FilterOp& filter) { return filter.filter.text(); },
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

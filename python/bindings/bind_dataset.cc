#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dataset_handle.h"
#include "failure.h"
#include "headrace/dataset.h"
#include "headrace/pipeline.h"
#include "pipeline_handle.h"
#include "python_files.h"
#include "read_options.h"
#include "transform_handle.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

DatasetHandle make_source(bool whole_files, const std::vector<nb::bytes>& files, bool is_list,
                          const std::string& compression, const std::string& verify, const std::string& on_corrupt,
                          const std::string& on_mismatch, std::int64_t max_skipped,
                          std::optional<std::int64_t> max_record_bytes, bool deterministic,
                          std::optional<int> num_threads, std::optional<std::int64_t> memory_bytes, int stream_version,
                          const nb::object& provider, std::optional<std::int64_t> cache_bytes,
                          const nb::bytes& cache_dir) {
  Files list{.is_list = is_list};
  for (const nb::bytes& file : files) list.items.emplace_back(to_view(file));
  const ReadOptions options = {.compression = to_compression(compression),
                               .verify = to_verify(verify),
                               .on_corrupt = to_on_corrupt(on_corrupt),
                               .on_mismatch = to_on_mismatch(on_mismatch),
                               .max_skipped = max_skipped,
                               .max_record_bytes = max_record_bytes,
                               .deterministic = deterministic,
                               .stream_version = stream_version,
                               .provider = make_python_files(provider),
                               .num_threads = num_threads,
                               .memory_bytes = memory_bytes,
                               .cache_bytes = cache_bytes,
                               .cache_dir = std::string(to_view(cache_dir))};
  return {whole_files ? FileDataset(std::move(list), options) : TFRecordDataset(std::move(list), options), nullptr};
}

std::unique_ptr<PipelineHandle> open(const DatasetHandle& self, const std::optional<Position>& position) {
  Result<Pipeline> pipeline = cancelled("not opened");
  {
    const WithoutGilInterruptible release;
    pipeline = self.dataset.open(position);
  }
  return std::make_unique<PipelineHandle>(std::make_shared<Pipeline>(unwrap(std::move(pipeline))), self.schema);
}

nb::list to_python(Result<std::vector<std::string>> warnings) {
  nb::list texts;
  for (const std::string& text : unwrap(std::move(warnings))) texts.append(text_to_python(text));
  return texts;
}

nb::list check(const DatasetHandle& self) {
  Result<std::vector<std::string>> warnings = cancelled("not checked");
  {
    const WithoutGilInterruptible release;
    warnings = self.dataset.check();
  }
  return to_python(std::move(warnings));
}

bool find_indexes(const DatasetHandle& self) {
  const Result<bool> found = [&self] {
    const WithoutGilInterruptible release;
    return self.dataset.find_indexes();
  }();
  raise_if_error(found.status());
  return *found;
}

nb::list make_indexes(const DatasetHandle& self) {
  Result<std::vector<std::string>> warnings = cancelled("not made");
  {
    const WithoutGilInterruptible release;
    warnings = self.dataset.make_indexes();
  }
  return to_python(std::move(warnings));
}

Remainder to_remainder(const std::string& name) {
  if (name == "split") return Remainder::kSplit;
  if (name == "pad") return Remainder::kPad;
  if (name == "drop") return Remainder::kDrop;
  raise(invalid_argument("remainder='" + name + "': must be 'split', 'pad' or 'drop'"));
}

std::optional<LocalDevices> to_local(const std::optional<std::pair<int, int>>& first_and_count) {
  if (!first_and_count) return std::nullopt;
  return LocalDevices{first_and_count->first, first_and_count->second};
}

ShardBy to_shard_by(const std::string& name) {
  if (name == "record") return ShardBy::kRecord;
  if (name == "file") return ShardBy::kFile;
  if (name == "range") return ShardBy::kRange;
  raise(invalid_argument("by='" + name + "': must be 'record', 'file' or 'range'"));
}

void bind_record_steps(nb::class_<DatasetHandle>& type) {
  type.def(
          "interleave",
          [](const DatasetHandle& self, std::int64_t cycle_length, std::int64_t block_length) {
            return DatasetHandle(self.dataset.interleave({.cycle_length = cycle_length, .block_length = block_length}),
                                 self.schema);
          },
          "cycle_length"_a = 16, "block_length"_a = 1)
      .def(
          "repeat",
          [](const DatasetHandle& self, std::optional<std::int64_t> count) {
            return DatasetHandle(self.dataset.repeat(count), self.schema);
          },
          "count"_a = nb::none())
      .def(
          "shuffle",
          [](const DatasetHandle& self, std::int64_t buffer_size, std::optional<std::int64_t> seed,
             bool reshuffle_each_iteration, bool mix_epochs, bool global, std::optional<std::int64_t> window_bytes) {
            return DatasetHandle(self.dataset.shuffle({.buffer_size = buffer_size,
                                                       .seed = seed,
                                                       .reshuffle_each_iteration = reshuffle_each_iteration,
                                                       .mix_epochs = mix_epochs,
                                                       .global = global,
                                                       .window_bytes = window_bytes}),
                                 self.schema);
          },
          "buffer_size"_a, "seed"_a = nb::none(), "reshuffle_each_iteration"_a = true, "mix_epochs"_a = false,
          "global_"_a = false, "window_bytes"_a = nb::none())
      .def(
          "shard",
          [](const DatasetHandle& self, std::int64_t num_shards, std::int64_t index, const std::string& by,
             bool drop_remainder) {
            const ShardOptions options = {.by = to_shard_by(by), .drop_remainder = drop_remainder};
            return DatasetHandle(self.dataset.shard(num_shards, index, options), self.schema);
          },
          "num_shards"_a, "index"_a, "by"_a = "record", "drop_remainder"_a = false)
      .def(
          "filter",
          [](const DatasetHandle& self, const Filter& filter) {
            return DatasetHandle(self.dataset.filter(filter), self.schema);
          },
          "filter"_a)
      .def(
          "take",
          [](const DatasetHandle& self, std::int64_t count) {
            return DatasetHandle(self.dataset.take(count), self.schema);
          },
          "count"_a)
      .def(
          "skip",
          [](const DatasetHandle& self, std::int64_t count) {
            return DatasetHandle(self.dataset.skip(count), self.schema);
          },
          "count"_a)
      .def(
          "assert_cardinality",
          [](const DatasetHandle& self, std::int64_t records) {
            return DatasetHandle(self.dataset.assert_cardinality(records), self.schema);
          },
          "records"_a);
}

std::vector<Dataset> to_datasets(const std::vector<const DatasetHandle*>& handles) {
  std::vector<Dataset> datasets;
  for (const DatasetHandle* handle : handles) datasets.push_back(handle->dataset);
  return datasets;
}

void bind_combinations(nb::module_& module) {
  module.def(
      "concatenate",
      [](const DatasetHandle& first, const DatasetHandle& second) {
        return DatasetHandle(first.dataset.concatenate(second.dataset), nullptr);
      },
      "first"_a, "second"_a);
  module.def(
      "sample_from_datasets",
      [](const std::vector<const DatasetHandle*>& datasets, std::vector<double> weights,
         std::optional<std::int64_t> seed, bool stop_on_empty, bool rerandomize_each_iteration) {
        return DatasetHandle(sample_from_datasets(to_datasets(datasets), {std::move(weights), seed, stop_on_empty,
                                                                          rerandomize_each_iteration}),
                             nullptr);
      },
      "datasets"_a, "weights"_a, "seed"_a = nb::none(), "stop_on_empty"_a, "rerandomize_each_iteration"_a);
  module.def(
      "choose_from_datasets",
      [](const std::vector<const DatasetHandle*>& datasets, std::vector<std::int64_t> choices, bool stop_on_empty) {
        return DatasetHandle(choose_from_datasets(to_datasets(datasets), {std::move(choices), stop_on_empty}), nullptr);
      },
      "datasets"_a, "choices"_a, "stop_on_empty"_a);
}

// `features`: (name, shape or None, value or None) of each.
DatasetHandle padded_batch(const DatasetHandle& self, std::int64_t size, bool drop_remainder, const nb::list& features,
                           nb::handle value) {
  BatchPadding padding{.value = to_pad_value(value)};
  for (nb::handle feature : features) {
    FeaturePadding one{.name = nb::cast<std::string>(feature[0]), .value = to_pad_value(nb::object(feature[2]))};
    if (const auto shape = nb::cast<std::optional<std::vector<std::int64_t>>>(feature[1])) {
      one.shape.emplace(shape->begin(), shape->end());
    }
    padding.features.push_back(std::move(one));
  }
  return {self.dataset.padded_batch({.size = size, .drop_remainder = drop_remainder}, std::move(padding)), self.schema};
}

void bind_batch_steps(nb::class_<DatasetHandle>& type) {
  type.def(
          "batch",
          [](const DatasetHandle& self, std::int64_t size, bool drop_remainder) {
            return DatasetHandle(self.dataset.batch({.size = size, .drop_remainder = drop_remainder}), self.schema);
          },
          "size"_a, "drop_remainder"_a = false)
      .def(
          "cache",
          [](const DatasetHandle& self, const nb::bytes& path) {
            return DatasetHandle(self.dataset.cache(std::string(to_view(path))));
          },
          "path"_a)
      .def("unbatch", [](const DatasetHandle& self) { return DatasetHandle(self.dataset.unbatch()); })
      .def(
          "enumerate",
          [](const DatasetHandle& self, std::int64_t start) { return DatasetHandle(self.dataset.enumerate(start)); },
          "start"_a)
      .def("padded_batch", padded_batch, "size"_a, "drop_remainder"_a, "features"_a, "value"_a.none())
      .def(
          "bucket_by_sequence_length",
          [](const DatasetHandle& self, std::string key, bool sequence, std::vector<std::int64_t> boundaries,
             std::vector<std::int64_t> sizes, bool drop_remainder) {
            return DatasetHandle(
                self.dataset.bucket_by_sequence_length(
                    {std::move(key), sequence, std::move(boundaries), std::move(sizes), drop_remainder}),
                self.schema);
          },
          "key"_a, "sequence"_a, "boundaries"_a, "sizes"_a, "drop_remainder"_a)
      .def(
          "parse",
          [](const DatasetHandle& self, const Schema& schema) { return DatasetHandle(self.dataset.parse(schema)); },
          "schema"_a)
      .def(
          "map",
          [](const DatasetHandle& self, std::string name, std::vector<std::string> columns, std::uintptr_t address) {
            const auto function = reinterpret_cast<int (*)(std::int64_t, void* const*)>(address);
            return DatasetHandle(self.dataset.map({std::move(name), std::move(columns), function}), self.schema);
          },
          "name"_a, "columns"_a, "address"_a)
      .def(
          "prefetch_to_device",
          [](const DatasetHandle& self, std::vector<std::string> devices, int depth, const std::string& remainder,
             std::vector<std::int64_t> weights, std::optional<std::pair<int, int>> local) {
            return DatasetHandle(self.dataset.prefetch_to_device({.devices = std::move(devices),
                                                                  .depth = depth,
                                                                  .remainder = to_remainder(remainder),
                                                                  .weights = std::move(weights),
                                                                  .local = to_local(local)}));
          },
          "devices"_a, "depth"_a, "remainder"_a, "weights"_a, "local"_a.none())
      .def(
          "resident",
          [](const DatasetHandle& self, std::int64_t batches, std::optional<std::int64_t> count) {
            return DatasetHandle(self.dataset.resident({.batches = batches, .count = count}), self.schema);
          },
          "batches"_a, "count"_a.none());
}

}  // namespace

void bind_dataset(nb::module_& m) {
  auto type = nb::class_<DatasetHandle>(m, "Dataset", "A declared pipeline; see headrace/dataset.h.");
  bind_record_steps(type);
  bind_batch_steps(type);
  type.def("open", open, "position"_a = nb::none(), "Finds and checks the files and starts reading.")
      .def("check", check, "Finds and checks the files; the warnings about them.")
      .def(
          "set_epoch", [](const DatasetHandle& self, std::int64_t epoch) { self.dataset.set_epoch(epoch); }, "epoch"_a)
      .def_prop_ro("drops_remainder", [](const DatasetHandle& self) { return self.dataset.drops_remainder(); })
      .def("next_epoch", [](const DatasetHandle& self) { return self.dataset.next_epoch(); })
      .def(
          "cardinality", [](const DatasetHandle& self) { return self.dataset.cardinality(); },
          "Elements of the stream; None when that is not known, -1 when there is no end.")
      .def(
          "epoch_cardinality", [](const DatasetHandle& self) { return self.dataset.epoch_cardinality(); },
          "The same for one epoch, as if there were no repeat().")
      .def("find_indexes", find_indexes,
           "Whether there is an index of every file; the records of an epoch are known then.")
      .def("make_indexes", make_indexes, "Makes the indexes that are missing; warnings about them.")
      .def(
          "ops",
          [](const DatasetHandle& self) {
            nb::list ops;
            for (const OpDescription& op : self.dataset.ops()) {
              ops.append(nb::make_tuple(op.id, text_to_python(op.name), text_to_python(op.arguments)));
            }
            return ops;
          },
          "The declared steps as (id, name, arguments), the source first.");

  bind_combinations(m);
  m.def("source_dataset", make_source, "whole_files"_a, "files"_a, "is_list"_a, "compression"_a, "verify"_a,
        "on_corrupt"_a, "on_mismatch"_a, "max_skipped"_a, "max_record_bytes"_a.none(), "deterministic"_a,
        "num_threads"_a.none(), "memory_bytes"_a.none(), "stream_version"_a, "provider"_a.none() = nb::none(),
        "cache_bytes"_a.none() = nb::none(), "cache_dir"_a = nb::bytes("", 0), "The source of a Dataset.");
}

}  // namespace headrace::python

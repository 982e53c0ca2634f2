#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch_handle.h"
#include "bindings.h"
#include "dataset_handle.h"
#include "export.h"
#include "failure.h"
#include "pipeline_handle.h"
#include "tensorflow_plan.h"
#include "tensorflow_source.h"
#include "waiting.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

struct PlanHandle {
  std::shared_ptr<const TensorflowPlan> plan;
};

/// Closes what is behind the address when Python drops it; the address itself stays readable.
struct SourceHandle {
  explicit SourceHandle(std::int64_t at) : address(at) {}
  SourceHandle(const SourceHandle&) = delete;
  SourceHandle& operator=(const SourceHandle&) = delete;
  ~SourceHandle() {
    const WithoutGil waiting;  // closing joins threads
    close_tensorflow_source(address);
  }
  const std::int64_t address;
};

nb::object dtype_text(DType dtype) { return text_to_python(to_string(dtype)); }

PlanHandle make_plan(const std::vector<std::pair<std::string, int>>& items) {
  std::vector<TensorflowItem> planned;
  for (const auto& [name, form] : items) {
    if (form < 0 || form > static_cast<int>(TensorflowForm::kSparse)) throw nb::value_error("no such form");
    planned.push_back({name, static_cast<TensorflowForm>(form)});
  }
  return {std::make_shared<const TensorflowPlan>(std::move(planned))};
}

nb::list capsules(const PlanHandle& self, const SliceHandle& slice) {
  Result<std::vector<Tensor>> arrays = self.plan->expand(*slice.slice);
  if (!arrays.ok()) raise(arrays.status());
  nb::list list;
  for (const Tensor& array : *arrays) list.append(classic_capsule(array));
  return list;
}

/// Dimensions of a tensor's shape that are ragged in the column, up to the last unknown one.
std::size_t ragged_dimensions(const Feature& feature) {
  if (!feature.has_unknown_dims() || feature.unknown_dims != UnknownDims::kRagged) return 0;
  std::size_t dimensions = feature.shape.size();
  while (dimensions > 0 && feature.shape[dimensions - 1] >= 0) --dimensions;
  return dimensions;
}

/// Ragged dimensions of a column and, of each, the length its rows all have, or -1.
nb::list row_lengths(const Feature& feature, const ColumnType& type) {
  nb::list lengths;
  if (type.padded) return lengths;
  if (feature.kind == FeatureKind::kVarLen || feature.kind == FeatureKind::kRagged) {
    lengths.append(-1);
    if (feature.feature_list) lengths.append(-1);
  }
  for (std::size_t d = 0; d < ragged_dimensions(feature); ++d) lengths.append(feature.shape[d]);
  for (const Partition& partition : feature.partitions) {
    lengths.append(partition.kind == PartitionKind::kUniformRowLength ? partition.row_length : -1);
  }
  return lengths;
}

nb::tuple describe(const Feature& feature) {
  const ColumnType type = unwrap(column_type(feature));
  nb::list shape;
  if (feature.kind == FeatureKind::kFixedLenSequence || type.padded) shape.append(type.padded_to);
  for (std::size_t d = ragged_dimensions(feature); d < type.shape.size(); ++d) shape.append(type.shape[d]);
  for (const SparseIndex& index : feature.indices) shape.append(index.size);
  // A sparse tensor holds one value at a place, and has no place without one.
  const bool sparse = (feature.sparse && !type.padded && type.shape.empty()) || feature.kind == FeatureKind::kSparse;
  if (feature.unknown_rank && feature.unknown_dims == UnknownDims::kRagged) {
    raise(invalid_argument("column '" + feature.name +
                           "' is ragged and of unknown rank, which no tensor spec can say; "
                           "give its rank, such as shape=[None, None]"));
  }
  return nb::make_tuple(text_to_python(feature.name), dtype_text(type.dtype),
                        feature.unknown_rank ? nb::none() : nb::object(nb::tuple(shape)),
                        nb::tuple(row_lengths(feature, type)), dtype_text(feature.row_splits_dtype), sparse);
}

nb::list describe_columns(const DatasetHandle& self) {
  nb::list columns;
  if (self.schema == nullptr) return columns;
  for (const Feature& feature : self.schema->features) columns.append(describe(feature));
  for (const RowColumn& column : self.schema->row_columns()) {
    columns.append(describe(Feature{.name = column.name, .dtype = column.dtype}));
  }
  return columns;
}

void bind_plan(nb::module_& m) {
  m.def("tensorflow_columns", describe_columns, nb::arg("dataset"),
        "The columns of a parsed dataset: (name, dtype, shape of a row with -1 for what differs by batch or None, row "
        "length of each "
        "ragged "
        "dimension or -1, dtype of row splits, sparse).");
  nb::class_<PlanHandle>(m, "TensorflowPlan",
                         "Which arrays TensorFlow gets of a slice: [(column, form)], form 0 dense, 1 ragged with int64 "
                         "splits, 2 ragged with int32 splits, 3 sparse.")
      .def("__init__",
           [](PlanHandle* self, const std::vector<std::pair<std::string, int>>& items) {
             new (self) PlanHandle(make_plan(items));
           })
      .def("capsules", capsules, nb::arg("slice"),
           "A DLPack capsule per array of `slice`, in plan order; ValueError for a column of strings.");
}

void bind_source(nb::module_& m) {
  nb::class_<SourceHandle>(m, "TensorflowSource", "What the op pulls slices from, known to it by its address.")
      .def_ro("address", &SourceHandle::address, "The input `source` of the op.")
      .def(
          "set_batch",
          [](const SourceHandle& self, const BatchHandle& batch) { set_source_batch(self.address, batch.replicas()); },
          nb::arg("batch"), "What a source of tensorflow_batch_source() gives next: slice r for replica r.")
      .def(
          "close", [](const SourceHandle& self) { close_tensorflow_source(self.address); },
          nb::call_guard<WithoutGil>(), "Stops the work behind the source; idempotent.");
}

}  // namespace

void bind_tensorflow(nb::module_& m) {
  bind_plan(m);
  bind_source(m);
  m.def(
      "tensorflow_source",
      [](const PipelineHandle& pipeline, const PlanHandle& plan) {
        return std::make_unique<SourceHandle>(open_pipeline_source(pipeline.pipeline, plan.plan));
      },
      nb::arg("pipeline"), nb::arg("plan"), "A source over the slices of a running pipeline.");
  m.def(
      "tensorflow_dataset_source",
      [](const DatasetHandle& dataset, const PlanHandle& plan) {
        return std::make_unique<SourceHandle>(open_dataset_source(dataset.dataset, plan.plan));
      },
      nb::arg("dataset"), nb::arg("plan"), "A source whose open() starts a pipeline of its own.");
  m.def(
      "tensorflow_batch_source",
      [](const PlanHandle& plan) { return std::make_unique<SourceHandle>(open_batch_source(plan.plan)); },
      nb::arg("plan"), "A source over one batch that Python has taken.");
  m.def(
      "tensorflow_seed",
      [](std::int64_t seed, std::int64_t epoch, std::int64_t batch_number, std::int64_t replica) {
        const TensorflowSeed made = tensorflow_seed(seed, epoch, batch_number, replica);
        return nb::make_tuple(made.values[0], made.values[1]);
      },
      nb::arg("seed"), nb::arg("epoch"), nb::arg("batch_number"), nb::arg("replica"),
      "Two int32, a pure function of the arguments: the seed that map functions get.");
  m.def("close_tensorflow_sources", close_all_tensorflow_sources, nb::call_guard<WithoutGil>(),
        "Closes every source of this process; for its end.");
}

}  // namespace headrace::python

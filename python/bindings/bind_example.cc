#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "export.h"
#include "failure.h"
#include "headrace/example.h"
#include "headrace/schema.h"
#include "transform_handle.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> to_span(const Vector<T>& values) {
  return {values.data(), values.size()};
}

std::vector<std::string_view> to_views(nb::handle strings, const char* parameter) {
  std::vector<std::string_view> views;
  views.reserve(nb::len(strings));
  for (nb::handle item : strings) {
    if (!nb::isinstance<nb::bytes>(item)) {
      raise(invalid_argument(std::string(parameter) + "[" + std::to_string(views.size()) + "]: expected bytes, found " +
                             nb::type_name(item.type()).c_str()));
    }
    views.push_back(to_view(nb::borrow<nb::bytes>(item)));
  }
  return views;
}

FeatureKind to_kind(std::string_view name) {
  if (name == "fixed_len") return FeatureKind::kFixedLen;
  if (name == "var_len") return FeatureKind::kVarLen;
  if (name == "ragged") return FeatureKind::kRagged;
  if (name == "fixed_len_sequence") return FeatureKind::kFixedLenSequence;
  if (name == "tensor") return FeatureKind::kTensor;
  if (name == "raw") return FeatureKind::kRaw;
  if (name == "sparse") return FeatureKind::kSparse;
  if (name == "list_length") return FeatureKind::kListLength;
  if (name == "stack") return FeatureKind::kStack;
  if (name == "jagged") return FeatureKind::kJagged;
  if (name == "image") return FeatureKind::kImage;
  raise(invalid_argument("kind: unknown kind of feature '" + std::string(name) + "'"));
}

PartitionKind to_partition(std::string_view name) {
  if (name == "row_splits") return PartitionKind::kRowSplits;
  if (name == "row_lengths") return PartitionKind::kRowLengths;
  if (name == "row_starts") return PartitionKind::kRowStarts;
  if (name == "row_limits") return PartitionKind::kRowLimits;
  if (name == "value_rowids") return PartitionKind::kValueRowIds;
  if (name == "uniform_row_length") return PartitionKind::kUniformRowLength;
  raise(invalid_argument("partitions: unknown kind of partition '" + std::string(name) + "'"));
}

UnknownDims to_unknown_dims(std::string_view name) {
  if (name == "ragged") return UnknownDims::kRagged;
  if (name == "padded") return UnknownDims::kPadded;
  if (name == "equal") return UnknownDims::kEqual;
  raise(invalid_argument("unknown_dims='" + std::string(name) + "': must be 'ragged', 'padded' or 'equal'"));
}

void set_default(Feature& self, nb::handle value) {
  self.has_default = true;
  if (nb::isinstance<nb::bytes>(value)) {
    const std::string_view bytes = to_view(nb::borrow<nb::bytes>(value));
    self.default_numeric.assign(bytes.begin(), bytes.end());
    return;
  }
  for (const std::string_view text : to_views(value, "default_value")) {
    self.default_bytes.emplace_back(text);
  }
}

void bind_schema(nb::module_& m) {
  nb::class_<Feature>(m, "Feature", "One feature as the engine sees it; see headrace/schema.h.")
      .def(
          "__init__",
          [](Feature* self, std::string name, const std::string& kind, const std::string& dtype,
             const std::vector<std::int64_t>& shape, std::string key) {
            new (self) Feature{.name = std::move(name),
                               .key = std::move(key),
                               .kind = to_kind(kind),
                               .dtype = dtype_or_raise(dtype),
                               .shape = Shape(shape.begin(), shape.end())};
          },
          "name"_a, "kind"_a, "dtype"_a, "shape"_a, "key"_a = "")
      .def("set_default", set_default, "value"_a,
           "bytes: the elements of a number type, little-endian; a list of bytes: strings.")
      .def(
          "add_partition",
          [](Feature& self, const std::string& kind, std::string key, std::int64_t row_length) {
            self.partitions.push_back({to_partition(kind), std::move(key), row_length});
          },
          "kind"_a, "key"_a = "", "row_length"_a = 0)
      .def(
          "add_index",
          [](Feature& self, std::string key, std::int64_t size) {
            self.indices.push_back({std::move(key), size});
          },
          "key"_a, "size"_a)
      .def(
          "add_transform",
          [](Feature& self, const TransformHandle& handle) { self.transforms.push_back(handle.transform); },
          "transform"_a)
      .def_prop_ro("dtype", [](const Feature& self) { return std::string(to_string(self.dtype)); })
      .def_prop_rw(
          "row_splits_dtype", [](const Feature& self) { return std::string(to_string(self.row_splits_dtype)); },
          [](Feature& self, const std::string& dtype) { self.row_splits_dtype = dtype_or_raise(dtype); })
      .def(
          "set_unknown_dims", [](Feature& self, const std::string& name) { self.unknown_dims = to_unknown_dims(name); },
          "name"_a, "'ragged', 'padded' or 'equal'.")
      .def_rw("name", &Feature::name)
      .def_rw("key", &Feature::key)
      .def_prop_ro(
          "shape", [](const Feature& self) { return shape_tuple(self.shape); }, "Dimensions per record.")
      .def_rw("keys", &Feature::keys)
      .def_rw("image", &Feature::image)
      .def_rw("allow_missing", &Feature::allow_missing)
      .def_rw("reshape", &Feature::reshape)
      .def_rw("little_endian", &Feature::little_endian)
      .def_rw("fixed_length", &Feature::fixed_length)
      .def_rw("unknown_rank", &Feature::unknown_rank)
      .def_rw("view", &Feature::view)
      .def_rw("sparse", &Feature::sparse)
      .def_rw("already_sorted", &Feature::already_sorted)
      .def_rw("feature_list", &Feature::feature_list);

  nb::class_<Schema>(m, "Schema", "The features of a record, in the order of the columns.")
      .def(
          "__init__",
          [](Schema* self, std::vector<Feature> features, bool origin, bool sequence) {
            Schema schema{.features = std::move(features), .origin = origin, .sequence = sequence};
            raise_if_error(schema.validate());
            new (self) Schema(std::move(schema));
          },
          "features"_a, "origin"_a = false, "sequence"_a = false,
          "ValueError naming feature and value of what is wrong.")
      .def_ro("origin", &Schema::origin);
}

void bind_builder(nb::module_& m) {
  nb::class_<ExampleBuilder>(m, "ExampleBuilder", "Builds one serialized tf.train.Example.")
      .def(nb::init<>())
      .def(
          "add_int64",
          [](ExampleBuilder& self, const std::string& key, const Vector<std::int64_t>& values) {
            self.add_int64(key, to_span(values));
          },
          "key"_a, "values"_a)
      .def(
          "add_float",
          [](ExampleBuilder& self, const std::string& key, const Vector<float>& values) {
            self.add_float(key, to_span(values));
          },
          "key"_a, "values"_a)
      .def(
          "add_bytes",
          [](ExampleBuilder& self, const std::string& key, const nb::sequence& values) {
            self.add_bytes(key, to_views(values, key.c_str()));
          },
          "key"_a, "values"_a)
      .def("build", [](const ExampleBuilder& self) {
        const std::string example = self.build();
        return nb::bytes(example.data(), example.size());
      });

  m.def(
      "dtype_size", [](const std::string& dtype) { return size_of(dtype_or_raise(dtype)); }, "dtype"_a,
      "Bytes of one element.");
  m.def(
      "make_tensor_proto",
      [](const std::string& dtype, const std::vector<std::int64_t>& dimensions, const Vector<std::uint8_t>& data) {
        const Shape shape(dimensions.begin(), dimensions.end());
        const std::string proto = unwrap(make_tensor_proto(dtype_or_raise(dtype), shape, to_span(data)));
        return nb::bytes(proto.data(), proto.size());
      },
      "dtype"_a, "shape"_a, "data"_a, "A serialized TensorProto; data is uint8, the elements in native order.");
}

}  // namespace

void bind_example(nb::module_& m) {
  bind_schema(m);
  bind_builder(m);
}

}  // namespace headrace::python

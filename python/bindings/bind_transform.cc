// Transform: one step of a feature's list of transforms. The façade checks types; values are checked by Schema.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.h"
#include "failure.h"
#include "headrace/transform.h"
#include "transform_handle.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

using Doubles = std::vector<double>;

// A Python int is a whole number, a float is none even when it has no fraction.
Number to_number(nb::handle value) {
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  return nb::cast<double>(value);
}

TransformHandle pad(std::int64_t count, nb::handle value) {
  return {Pad{.count = count, .value = to_pad_value(value)}};
}

TransformHandle lookup(const nb::list& vocabulary, nb::handle oov, std::int64_t num_oov_buckets) {
  Lookup lookup{.num_oov_buckets = num_oov_buckets};
  for (nb::handle item : vocabulary) {
    if (nb::isinstance<nb::bytes>(item)) {
      lookup.strings.emplace_back(to_view(nb::borrow<nb::bytes>(item)));
    } else {
      lookup.integers.push_back(nb::cast<std::int64_t>(item));
    }
  }
  lookup.oov_fails = oov.is_none();
  if (!lookup.oov_fails) lookup.oov = nb::cast<std::int64_t>(oov);
  return {std::move(lookup)};
}

}  // namespace

PadValue to_pad_value(nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::bytes>(value)) return std::string(to_view(nb::borrow<nb::bytes>(value)));
  return std::visit([](auto number) { return PadValue(number); }, to_number(value));
}

void bind_transform(nb::module_& m) {
  nb::class_<TransformHandle>(m, "Transform", "One transform as the engine sees it; see headrace/transform.h.")
      .def_static(
          "cast", [](const std::string& dtype) { return TransformHandle{Cast{dtype_or_raise(dtype)}}; }, "dtype"_a)
      .def_static(
          "scale",
          [](Doubles mul, Doubles add) {
            return TransformHandle{Scale{std::move(mul), std::move(add)}};
          },
          "mul"_a, "add"_a)
      .def_static(
          "normalize",
          [](Doubles mean, Doubles std) {
            return TransformHandle{Normalize{std::move(mean), std::move(std)}};
          },
          "mean"_a, "std"_a)
      .def_static(
          "clip",
          [](nb::handle lo, nb::handle hi) {
            return TransformHandle{Clip{to_number(lo), to_number(hi)}};
          },
          "lo"_a, "hi"_a)
      .def_static("log1p", [] { return TransformHandle{Log1p{}}; })
      .def_static(
          "fill_nan", [](double value) { return TransformHandle{FillNan{value}}; }, "value"_a)
      .def_static(
          "bucketize",
          [](const Doubles& boundaries) {
            return TransformHandle{Bucketize{std::vector<float>(boundaries.begin(), boundaries.end())}};
          },
          "boundaries"_a)
      .def_static(
          "one_hot",
          [](std::int64_t depth, const std::string& dtype) {
            return TransformHandle{OneHot{depth, dtype_or_raise(dtype)}};
          },
          "depth"_a, "dtype"_a)
      .def_static(
          "hash_bucket", [](std::int64_t buckets) { return TransformHandle{HashBucket{buckets}}; }, "buckets"_a)
      .def_static(
          "mod", [](std::int64_t divisor) { return TransformHandle{Mod{divisor}}; }, "divisor"_a)
      .def_static("lookup", lookup, "vocabulary"_a, "oov"_a.none(), "num_oov_buckets"_a)
      .def_static(
          "truncate", [](std::int64_t count) { return TransformHandle{Truncate{count}}; }, "count"_a)
      .def_static("pad", pad, "count"_a, "value"_a.none());
}

}  // namespace headrace::python

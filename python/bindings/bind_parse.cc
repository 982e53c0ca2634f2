#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "batch_handle.h"
#include "bindings.h"
#include "column.h"
#include "export.h"
#include "failure.h"
#include "headrace/example.h"
#include "strings.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

/// The value of `parse()`, which runs without the GIL.
template <class Parse>
auto unlocked(const Parse& parse) {
  auto result = [&parse] {
    const WithoutGil release;
    return parse();
  }();
  return unwrap(std::move(result));
}

SliceHandle to_handle(Slice parsed) {
  auto slice = std::make_shared<const Slice>(std::move(parsed));
  auto names = std::make_shared<const ColumnNames>(slice->columns);
  return {std::move(slice), std::move(names)};
}

// [strings, …] becomes [*shape of the strings, …].
nb::object shaped(Column column, const Shape& outer) {
  Shape shape = outer;
  shape.insert(shape.end(), column.values.shape.begin() + 1, column.values.shape.end());
  column.values.shape = std::move(shape);
  return column_to_python(column);
}

nb::list strings_of(const ExampleFeature& feature) {
  nb::list list;
  for (const std::string& text : feature.strings) list.append(nb::bytes(text.data(), text.size()));
  return list;
}

nb::tuple content_of(const nb::bytes& serialized) {
  const ExampleContent content = unwrap(read_example(to_view(serialized)));
  nb::list features;
  for (const ExampleFeature& feature : content.features) {
    const nb::object dtype = feature.dtype ? dtype_name(*feature.dtype) : nb::object(nb::none());
    features.append(nb::make_tuple(text_to_python(feature.key), dtype, feature.values, strings_of(feature)));
  }
  return nb::make_tuple(features, content.is_sequence);
}

nb::object description_of(const nb::bytes& serialized) {
  const Result<TensorDescription> tensor = describe_tensor(to_view(serialized));
  if (!tensor.ok()) return nb::none();
  return nb::make_tuple(dtype_name(tensor->dtype), shape_tuple(tensor->shape));
}

}  // namespace

void bind_parse(nb::module_& m) {
  m.def(
      "parse_example",
      [](nb::handle serialized, const Schema& schema, int num_threads) {
        const Strings strings = to_strings(serialized, "serialized");
        return to_handle(unlocked([&] { return parse_example(strings.views, schema, num_threads); }));
      },
      "serialized"_a, "schema"_a, "num_threads"_a = 1);
  m.def(
      "parse_single_example",
      [](const nb::bytes& serialized, const Schema& schema) {
        return to_handle(unlocked([&] { return parse_single_example(to_view(serialized), schema); }));
      },
      "serialized"_a, "schema"_a);
  m.def(
      "parse_tensor",
      [](nb::handle serialized, const std::string& dtype, int num_threads) {
        const Strings strings = to_strings(serialized, "serialized");
        const DType type = dtype_or_raise(dtype);
        return shaped(unlocked([&] { return parse_tensor(strings.views, type, num_threads); }), strings.shape);
      },
      "serialized"_a, "dtype"_a, "num_threads"_a = 1);
  m.def(
      "decode_raw",
      [](nb::handle input_bytes, const std::string& dtype, bool little_endian, std::optional<std::int64_t> fixed_length,
         int num_threads) {
        const Strings strings = to_strings(input_bytes, "input_bytes");
        const DecodeRawOptions options = {
            .dtype = dtype_or_raise(dtype), .little_endian = little_endian, .fixed_length = fixed_length};
        return shaped(unlocked([&] { return decode_raw(strings.views, options, num_threads); }), strings.shape);
      },
      "input_bytes"_a, "dtype"_a, "little_endian"_a = true, "fixed_length"_a = nb::none(), "num_threads"_a = 1);
  m.def("read_example", content_of, "serialized"_a,
        "([(key, type or None, number of values, byte strings)], has feature_lists) of an Example.");
  m.def("describe_tensor", description_of, "serialized"_a, "(type, shape) of a TensorProto, or None.");
}

}  // namespace headrace::python

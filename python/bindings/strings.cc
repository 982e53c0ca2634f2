#include "strings.h"

#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arrow_abi.h"
#include "column.h"
#include "failure.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& reason) {
  raise(invalid_argument(std::string(parameter) + reason));
}

std::string type_of(nb::handle value) { return nb::type_name(value.type()).c_str(); }

Strings of_tuple(const nb::tuple& items, const char* parameter) {
  Strings strings{.shape = {static_cast<std::int64_t>(items.size())}, .owner = items};
  strings.views.reserve(items.size());
  for (nb::handle item : items) {
    if (!nb::isinstance<nb::bytes>(item)) {
      refuse(parameter, "[" + std::to_string(strings.views.size()) + "]: expected bytes, found " + type_of(item));
    }
    strings.views.push_back(to_view(nb::borrow<nb::bytes>(item)));
  }
  return strings;
}

// NumPy's object arrays have no stable layout of their own to read: their items are taken out as a list.
Strings of_numpy(nb::handle value, const char* parameter) {
  Strings strings = of_tuple(nb::tuple(value.attr("ravel")().attr("tolist")()), parameter);
  const auto shape = nb::cast<std::vector<std::int64_t>>(value.attr("shape"));
  strings.shape = Shape(shape.begin(), shape.end());
  return strings;
}

Strings of_column(nb::handle value) {
  const Column& column = nb::inst_ptr<BytesColumn>(value)->column;
  Strings strings{.shape = column.values.shape, .owner = nb::borrow(value)};
  const std::int64_t elements = column.values.elements();
  strings.views.reserve(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i) strings.views.push_back(column.bytes_at(i));
  return strings;
}

template <class T>
const T& in_capsule(nb::handle capsule, const char* name) {
  const void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (pointer == nullptr) throw nb::python_error();
  return *static_cast<const T*>(pointer);
}

bool is_null(const arrow::Array& array, std::int64_t i) {
  const auto* bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  const std::int64_t at = array.offset + i;
  return bits != nullptr && (bits[at / 8] >> (at % 8) & 1) == 0;
}

template <class Offset>
void append_views(const arrow::Array& array, const char* parameter, std::vector<std::string_view>* views) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  const auto* data = static_cast<const char*>(array.buffers[2]);
  for (std::int64_t i = 0; i < array.length; ++i) {
    if (is_null(array, i)) refuse(parameter, "[" + std::to_string(i) + "]: expected bytes, found null");
    if (offsets[i + 1] < offsets[i]) refuse(parameter, ": the offsets of the Arrow array decrease");
    views->emplace_back(data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
}

// The capsules release the array when they go: they are the owner.
Strings of_arrow(nb::handle value, const char* parameter) {
  const nb::object capsules = value.attr("__arrow_c_array__")();
  const auto& schema = in_capsule<arrow::Schema>(nb::object(capsules[0]), arrow::kSchemaCapsule);
  const auto& array = in_capsule<arrow::Array>(nb::object(capsules[1]), arrow::kArrayCapsule);
  const std::string_view format = schema.format;
  const bool is_large = format == "Z";
  if ((format != "z" && !is_large) || schema.dictionary != nullptr || array.n_buffers != 3) {
    refuse(parameter, ": expected an Arrow array of type binary or large_binary, found one of format '" +
                          std::string(format) + "'; cast it");
  }
  Strings strings{.shape = {array.length}, .owner = capsules};
  strings.views.reserve(static_cast<std::size_t>(array.length));
  if (array.length == 0) return strings;
  is_large ? append_views<std::int64_t>(array, parameter, &strings.views)
           : append_views<std::int32_t>(array, parameter, &strings.views);
  return strings;
}

}  // namespace

Strings to_strings(nb::handle value, const char* parameter) {
  if (nb::isinstance<nb::bytes>(value)) {
    return {.views = {to_view(nb::borrow<nb::bytes>(value))}, .shape = {}, .owner = nb::borrow(value)};
  }
  if (nb::isinstance<nb::tuple>(value)) return of_tuple(nb::borrow<nb::tuple>(value), parameter);
  if (nb::isinstance<BytesColumn>(value)) return of_column(value);
  if (nb::hasattr(value, "__arrow_c_array__")) return of_arrow(value, parameter);
  if (nb::hasattr(value, "ravel")) return of_numpy(value, parameter);
  refuse(parameter, ": expected bytes, found " + type_of(value));
}

}  // namespace headrace::python

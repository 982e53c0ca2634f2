#include "column_names.h"

#include "failure.h"

namespace nb = nanobind;

namespace headrace::python {

ColumnNames::ColumnNames(std::span<const Column> columns) {
  std::size_t place = 0;
  for (const Column& column : columns) {
    PyObject* name = text_to_python(column.name).release().ptr();
    PyUnicode_InternInPlace(&name);
    const nb::object interned = nb::steal(name);
    names_.append(interned);
    places_[interned] = place++;
  }
}

std::optional<std::size_t> ColumnNames::find(nb::handle key) const {
  if (!PyUnicode_Check(key.ptr())) return std::nullopt;
  PyObject* place = PyDict_GetItemWithError(places_.ptr(), key.ptr());
  if (place != nullptr) return PyLong_AsSize_t(place);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return std::nullopt;
}

}  // namespace headrace::python

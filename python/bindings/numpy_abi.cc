#include "numpy_abi.h"

#include <nanobind/stl/string.h>

#include <cstddef>
#include <string>

namespace nb = nanobind;

namespace headrace::python::numpy_abi {
namespace {

// Places in NumPy's table.
constexpr std::size_t kVersionEntry = 0;
constexpr std::size_t kArrayTypeEntry = 2;
constexpr std::size_t kNewFromDescrEntry = 94;
constexpr std::size_t kSetBaseObjectEntry = 282;

constexpr unsigned kNumpy1 = 0x01000009;
constexpr unsigned kNumpy2 = 0x02000000;

nb::object table_capsule() {
  nb::object version = nb::module_::import_("numpy").attr("__version__");
  const bool is_numpy1 = nb::cast<std::string>(version).starts_with("1.");
  const char* name = is_numpy1 ? "numpy.core._multiarray_umath" : "numpy._core._multiarray_umath";
  return nb::module_::import_(name).attr("_ARRAY_API");
}

Table read_table() {
  const nb::object capsule = table_capsule();
  auto* const* entries = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (entries == nullptr) throw nb::python_error();
  const unsigned version = reinterpret_cast<unsigned (*)()>(entries[kVersionEntry])();
  const nb::object ndarray = nb::module_::import_("numpy").attr("ndarray");
  if ((version != kNumpy1 && version != kNumpy2) || entries[kArrayTypeEntry] != ndarray.ptr()) {
    const std::string text = "headrace does not know this NumPy's binary interface (" + std::to_string(version) + ")";
    throw nb::import_error(text.c_str());
  }
  return {static_cast<PyTypeObject*>(entries[kArrayTypeEntry]),
          reinterpret_cast<NewFromDescr>(entries[kNewFromDescrEntry]),
          reinterpret_cast<SetBaseObject>(entries[kSetBaseObjectEntry])};
}

}  // namespace

const Table& load() {
  // Not a guarded static: its lock would be held while the import may hand the GIL to another thread.
  static Table table{};
  if (table.ndarray == nullptr) table = read_table();
  return table;
}

}  // namespace headrace::python::numpy_abi

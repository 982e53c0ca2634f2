// Strings: byte strings that a Python caller hands over, as views without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "headrace/types.h"

namespace headrace::python {

struct Strings {
  std::vector<std::string_view> views;  ///< valid as long as `owner`
  Shape shape;                          ///< of the array they came in; [] for a single one
  nanobind::object owner;               ///< nobody can change it while the GIL is released
};

/// The strings of bytes (a single one), a tuple of bytes, a BytesColumn, an array of the Arrow C data interface
/// (`__arrow_c_array__`) of type binary or large_binary, or a NumPy object array. ValueError naming `parameter` and the place
/// for everything else.
Strings to_strings(nanobind::handle value, const char* parameter);

}  // namespace headrace::python

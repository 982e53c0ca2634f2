// From Status to Python exception, and the small conversions that both directions share.
//
// raise() makes the exception through headrace.errors.from_status, which holds the table of DESIGN section 4. All calls need
// the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <utility>

#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace::python {

/// Throws the Python exception that stands for `failure`, which must not be ok.
[[noreturn]] void raise(const Status& failure);

inline void raise_if_error(const Status& status) {
  if (!status.ok()) raise(status);
}

/// From now on std::bad_alloc is the BudgetError of no_memory(), and a thread that the system does not start one that says so.
void translate_exceptions();

/// The value of a Result, or its failure as an exception.
template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}

/// A path in the file system's encoding (undecodable bytes survive the way back through os.fsencode).
nanobind::object path_to_python(const std::string& path);
/// Text that is UTF-8 nearly always; other bytes are written as \xNN.
nanobind::object text_to_python(std::string_view text);
inline std::string_view to_view(const nanobind::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// The DType of NumPy's name, or ValueError.
DType dtype_or_raise(std::string_view name);

}  // namespace headrace::python

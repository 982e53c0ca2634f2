// PythonFiles: files that a Python object finds and opens (TFRecordDataset(open=...), fsspec).
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "headrace/file_provider.h"

namespace headrace::python {

/// Null for None. Else `files` has find(items, is_list) -> [(path, bytes)] and open(path) -> an object with read_at(offset, size) -> bytes and
/// close(). They are called by threads of the engine that hold no lock.
std::shared_ptr<const FileProvider> make_python_files(nanobind::object files);

}  // namespace headrace::python

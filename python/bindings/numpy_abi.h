// The three entries of NumPy's C interface that we call: an array over memory that somebody else owns.
//
// NumPy keeps the numbers of its table's entries for good (https://numpy.org/doc/stable/reference/c-api), so that one build
// serves every NumPy from 1.x on without its headers. load() looks at the version of the binary interface and at one
// entry whose value is known from Python before anything is called.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace headrace::python::numpy_abi {

using NewFromDescr = PyObject* (*)(PyTypeObject* subtype, PyObject* descr, int rank, const Py_ssize_t* shape,
                                   const Py_ssize_t* strides, void* data, int flags, PyObject* prototype);
using SetBaseObject = int (*)(PyObject* array, PyObject* base);

struct Table {
  PyTypeObject* ndarray;
  NewFromDescr new_from_descr;    ///< takes over the reference to `descr`
  SetBaseObject set_base_object;  ///< takes over the reference to `base`, also when it fails
};

constexpr int kCContiguous = 0x1;
constexpr int kAligned = 0x100;
constexpr int kWriteable = 0x400;

/// The table of the NumPy that is installed; ImportError for one whose binary interface is unknown. Needs the GIL.
const Table& load();

}  // namespace headrace::python::numpy_abi

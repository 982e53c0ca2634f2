// Export of tensors to whoever reads arrays: DLPack capsules, the buffer protocol, NumPy.
//
// Memory of a CUDA device leaves by DLPack only; what reads it on the host raises. Everything exported shares the memory of the tensor's Buffer and keeps it alive by its reference count. Deleters of
// capsules touch no Python object, so that a consumer may drop them on any thread, with or without an interpreter.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>

#include "dlpack_abi.h"
#include "headrace/batch.h"

namespace headrace::python {

/// New memory, aligned like a column of a batch, filled with zeros.
BufferPtr make_buffer(std::size_t bytes);
/// A tensor in new memory with room for `shape`.
Tensor make_tensor(DType dtype, Shape shape);
Tensor copy_tensor(const Tensor& tensor);

/// Where the memory of `tensor` is, as __dlpack_device__ says it: (1, 0) or (2, n).
dlpack::Device dlpack_device(const Tensor& tensor);
/// DeviceError unless the host can read `tensor`.
void require_host(const Tensor& tensor);

/// A capsule named "dltensor", the classic form that every consumer takes.
nanobind::object classic_capsule(const Tensor& tensor);
/// A capsule named "dltensor_versioned" (DLPack 1.0).
nanobind::object versioned_capsule(const Tensor& tensor, bool is_copy);

/// Fills `view` as PyObject_GetBuffer asks; -1 with BufferError set when it cannot be said (bfloat16 and float8 have no format).
int fill_buffer_view(PyObject* exporter, const Tensor& tensor, Py_buffer* view, int flags);
void release_buffer_view(Py_buffer* view);

/// A writable numpy.ndarray over the memory of `tensor`; it keeps `owner`, which keeps the memory.
nanobind::object numpy_view(nanobind::handle owner, const Tensor& tensor);
/// numpy.dtype of `dtype`; bfloat16 and float8 need the package ml_dtypes (ValueError names it).
nanobind::object numpy_dtype(DType dtype);
nanobind::tuple shape_tuple(std::span<const std::int64_t> shape);
/// The name of `dtype` as an interned str.
nanobind::object dtype_name(DType dtype);

}  // namespace headrace::python

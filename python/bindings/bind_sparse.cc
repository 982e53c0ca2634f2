#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "column.h"
#include "export.h"

namespace nb = nanobind;

namespace headrace::python {

void bind_sparse(nb::module_& m) {
  nb::class_<SparseColumn>(
      m, "Sparse",
      "One feature of a batch as values at indices: element i is values[i] at indices[i] of an array of "
      "dense_shape, which is empty elsewhere.")
      .def_prop_ro(
          "indices", [](const SparseColumn& self) { return DenseColumn{self.column.indices}; },
          "int64 [n, rank]: row and index in every dimension of each value, in row order.")
      .def_prop_ro(
          "values", [](const SparseColumn& self) { return flat_values_to_python(self.column); },
          "[n]: a DenseColumn or a BytesColumn.")
      .def_prop_ro(
          "dense_shape", [](const SparseColumn& self) { return shape_tuple(self.column.dense_shape); },
          "(rows, *sizes), a tuple of int.")
      .def_prop_ro(
          "dtype", [](const SparseColumn& self) { return dtype_name(self.column.values.dtype); },
          "NumPy's name of the type of the values.")
      .def("__len__", [](const SparseColumn& self) { return self.column.dense_shape[0]; })
      .def("__repr__", [](const SparseColumn& self) {
        Tensor dense = self.column.values;
        dense.shape = self.column.dense_shape;
        return "<headrace.Sparse " + describe(dense) + ", " + std::to_string(self.column.values.elements()) +
               " values>";
      });
}

}  // namespace headrace::python

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "column.h"
#include "dlpack_abi.h"
#include "export.h"
#include "failure.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

[[noreturn]] void raise_buffer_error(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, ("headrace: " + text).c_str());
  throw nb::python_error();
}

std::string describe_device(const dlpack::Device& device) {
  const std::string kind = device.type == dlpack::kDeviceCpu ? "host memory, device (" : "the memory of device (";
  return kind + std::to_string(device.type) + ", " + std::to_string(device.id) + ")";
}

// The copy to the device is over, so there is nothing that the consumer's stream must wait for. What it goes on to do there
// may still read when the tensor is dropped.
void hand_to_stream(const Tensor& tensor, std::optional<std::int64_t> stream) {
  if (stream == dlpack::kStreamAmbiguous || stream.value_or(0) < dlpack::kStreamUnsynchronised) {
    raise_buffer_error("stream=" + std::to_string(*stream) + " names no CUDA stream; 1 is the legacy default stream");
  }
  const bool is_named = stream && *stream != dlpack::kStreamUnsynchronised;
  tensor.buffer->read_by(is_named ? std::optional(static_cast<std::uintptr_t>(*stream)) : std::nullopt);
}

nb::object dlpack(const DenseColumn& self, std::optional<std::int64_t> stream,
                  std::optional<std::pair<int, int>> max_version, std::optional<std::pair<int, int>> dl_device,
                  std::optional<bool> copy) {
  const dlpack::Device device = dlpack_device(self.tensor);
  const bool is_host = device.type == dlpack::kDeviceCpu;
  if (dl_device && (dl_device->first != device.type || (!is_host && dl_device->second != device.id))) {
    raise_buffer_error("this column is in " + describe_device(device) + ", and is not copied to another one");
  }
  const bool copied = copy.value_or(false);
  if (!is_host) {
    if (copied) raise_buffer_error("a column on a device is not copied; copy what the framework makes of it");
    hand_to_stream(self.tensor, stream);
  }
  const Tensor& tensor = self.tensor;
  if (max_version && max_version->first >= 1) return versioned_capsule(copied ? copy_tensor(tensor) : tensor, copied);
  return classic_capsule(copied ? copy_tensor(tensor) : tensor);
}

nb::object as_array(nb::handle array, const nb::object& dtype, std::optional<bool> copy) {
  if (!dtype.is_none()) return array.attr("astype")(dtype, "copy"_a = copy.value_or(false));
  return copy.value_or(false) ? array.attr("copy")() : nb::borrow(array);
}

nb::object arrow_array(nb::handle self, nb::handle type) {
  return nb::module_::import_("headrace.arrow").attr("arrow_array")(self, type);
}

int dense_get_buffer(PyObject* exporter, Py_buffer* view, int flags) {
  return fill_buffer_view(exporter, nb::inst_ptr<DenseColumn>(exporter)->tensor, view, flags);
}
void dense_release_buffer(PyObject* /*exporter*/, Py_buffer* view) { release_buffer_view(view); }

PyType_Slot dense_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(dense_get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(dense_release_buffer)},
                             {0, nullptr}};

nb::object dense_numpy(nb::handle_t<DenseColumn> self) {
  return numpy_view(self, nb::inst_ptr<DenseColumn>(self)->tensor);
}

void bind_dense(nb::module_& m) {
  nb::class_<DenseColumn>(
      m, "DenseColumn", nb::type_slots(dense_slots),
      "One feature of a batch as a dense, writable, C-contiguous array [rows, ...]. Speaks DLPack, in "
      "host memory also the buffer protocol and NumPy, all without a copy.")
      .def("__dlpack__", dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
           "dl_device"_a = nb::none(), "copy"_a = nb::none(),
           "A DLPack capsule, of version 1.0 when max_version allows it. On a CUDA device the copy is over, and the "
           "memory "
           "is not written to before the work that `stream` has when the tensor is dropped is done (None, -1: the work "
           "of "
           "all streams); the stream must live until then. BufferError for another device than __dlpack_device__.")
      .def(
          "__dlpack_device__",
          [](const DenseColumn& self) {
            const dlpack::Device device = dlpack_device(self.tensor);
            return nb::make_tuple(device.type, device.id);
          },
          "(1, 0): host memory; (2, n): CUDA device n.")
      .def(
          "capsule",
          [](const DenseColumn& self) {
            if (self.tensor.buffer != nullptr) self.tensor.buffer->read_by(std::nullopt);
            return classic_capsule(self.tensor);
          },
          "A fresh capsule named 'dltensor', as tf.experimental.dlpack.from_dlpack takes it. It may be read by any "
          "stream.")
      .def("numpy", dense_numpy, "A writable numpy.ndarray over the same memory.")
      .def(
          "__array__",
          [](nb::handle_t<DenseColumn> self, const nb::object& dtype, std::optional<bool> copy) {
            return as_array(dense_numpy(self), dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def("__arrow_array__", arrow_array, "type"_a = nb::none(),
           "A pyarrow.Array of the rows, of fixed-size lists where they have dimensions (pyarrow.array calls this).")
      .def_prop_ro(
          "shape", [](const DenseColumn& self) { return shape_tuple(self.tensor.shape); }, "Dimensions, rows first.")
      .def_prop_ro(
          "dtype", [](const DenseColumn& self) { return dtype_name(self.tensor.dtype); }, "NumPy's name of the type.")
      .def_prop_ro(
          "nbytes", [](const DenseColumn& self) { return self.tensor.bytes(); }, "Bytes of all elements.")
      .def("__len__",
           [](const DenseColumn& self) {
             if (self.tensor.shape.empty()) throw nb::type_error("a scalar has no length");
             return self.tensor.shape[0];
           })
      .def("__getitem__",
           [](nb::handle_t<DenseColumn> self, nb::handle key) -> nb::object { return dense_numpy(self)[key]; })
      .def("__repr__", [](const DenseColumn& self) { return "<headrace.DenseColumn " + describe(self.tensor) + ">"; });
}

nb::object element(const Column& column, std::int64_t i) {
  const std::string_view bytes = column.bytes_at(i);
  return nb::bytes(bytes.data(), bytes.size());
}

nb::list bytes_list(const BytesColumn& self) {
  nb::list list;
  const std::int64_t elements = self.column.values.elements();
  for (std::int64_t i = 0; i < elements; ++i) list.append(element(self.column, i));
  return list;
}

// An object array is filled through a list: NumPy takes the references over without looking into the strings.
nb::object bytes_numpy(const BytesColumn& self) {
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("empty")(self.column.values.elements(), "dtype"_a = numpy_dtype(DType::kBytes));
  array[nb::slice(nb::none(), nb::none(), nb::none())] = bytes_list(self);
  return array.attr("reshape")(shape_tuple(self.column.values.shape));
}

// Offsets and payload of a column whose strings lie one behind the other.
const Column& contiguous(const BytesColumn& self) {
  if (!self.column.is_view()) return self.column;
  raise(invalid_argument("the column holds views of its records, which have neither offsets nor payload; use copy()"));
}

// Read-only: the bytes of a view are those of the record.
nb::object bytes_view(const BytesColumn& self, std::int64_t asked) {
  const std::int64_t elements = self.column.values.elements();
  const std::int64_t i = asked < 0 ? asked + elements : asked;
  if (i < 0 || i >= elements) throw nb::index_error("string out of range");
  const std::string_view bytes = self.column.bytes_at(i);
  Tensor part{.dtype = DType::kUint8, .shape = {static_cast<std::int64_t>(bytes.size())}};
  part.data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
  part.buffer = self.column.values.buffer;
  const nb::object owner = nb::cast(DenseColumn{std::move(part)});
  return nb::steal(PyMemoryView_FromObject(owner.ptr())).attr("toreadonly")();
}

BytesColumn bytes_copy(const BytesColumn& self) {
  std::vector<std::string_view> strings(static_cast<std::size_t>(self.column.values.elements()));
  for (std::size_t i = 0; i < strings.size(); ++i) strings[i] = self.column.bytes_at(static_cast<std::int64_t>(i));
  raise_if_error(check_bytes_column(strings));
  return {make_bytes_column(self.column.values.shape, strings)};
}

nb::object bytes_payload(nb::handle_t<BytesColumn> self) {
  const Column& column = contiguous(*nb::inst_ptr<BytesColumn>(self));
  const std::int64_t* offsets = reinterpret_cast<const std::int64_t*>(column.byte_offsets.data);
  Tensor payload{.dtype = DType::kUint8, .shape = {0}, .buffer = column.values.buffer};
  if (offsets != nullptr) payload.shape[0] = offsets[column.values.elements()];
  payload.data = const_cast<std::uint8_t*>(column.payload);
  return nb::cast(DenseColumn{std::move(payload)});
}

void bind_bytes(nb::module_& m) {
  nb::class_<BytesColumn>(m, "BytesColumn",
                          "One feature of a batch as byte strings. `payload` holds all of them in row order, `offsets` "
                          "where each begins.")
      .def("numpy", bytes_numpy, "A numpy object array of bytes, shaped as the column. Copies every string.")
      .def(
          "__array__",
          [](const BytesColumn& self, const nb::object& dtype, std::optional<bool> copy) {
            return as_array(bytes_numpy(self), dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def(
          "tolist",
          [](const BytesColumn& self) -> nb::object {
            if (self.column.values.shape.size() == 1) return bytes_list(self);
            return bytes_numpy(self).attr("tolist")();
          },
          "The strings as (nested) lists of bytes.")
      .def_prop_ro(
          "shape", [](const BytesColumn& self) { return shape_tuple(self.column.values.shape); },
          "Dimensions, rows first.")
      .def_prop_ro(
          "dtype", [](const BytesColumn&) { return dtype_name(DType::kBytes); }, "Always 'bytes'.")
      .def_prop_ro(
          "offsets", [](const BytesColumn& self) { return DenseColumn{contiguous(self).byte_offsets}; },
          "int64 [elements + 1]: byte offsets into payload. ValueError for views.")
      .def_prop_ro("payload", bytes_payload, "uint8 [bytes]: all strings one after another. ValueError for views.")
      .def_prop_ro(
          "is_view", [](const BytesColumn& self) { return self.column.is_view(); },
          "Whether the strings still lie in their records, which live as long as the column.")
      .def("view", bytes_view, "index"_a,
           "A read-only memoryview of one string, without a copy; it keeps the column's memory.")
      .def("copy", bytes_copy, "The same strings in memory of their own, one after another. BudgetError from 4 GiB on.")
      .def("__arrow_array__", arrow_array, "type"_a = nb::none(),
           "A pyarrow.LargeBinaryArray over the same memory (pyarrow.array calls this).")
      .def("__len__",
           [](const BytesColumn& self) {
             if (self.column.values.shape.empty()) throw nb::type_error("a scalar has no length");
             return self.column.values.shape[0];
           })
      .def("__getitem__",
           [](const BytesColumn& self, nb::handle key) -> nb::object {
             const Tensor& values = self.column.values;
             if (values.shape.size() != 1 || !PyIndex_Check(key.ptr())) return bytes_numpy(self)[key];
             const Py_ssize_t asked = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
             if (asked == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
             const std::int64_t i = asked < 0 ? asked + values.shape[0] : asked;
             if (i < 0 || i >= values.shape[0]) throw nb::index_error("row out of range");
             return element(self.column, i);
           })
      .def("__repr__",
           [](const BytesColumn& self) { return "<headrace.BytesColumn " + describe(self.column.values) + ">"; });
}

nb::object ragged_values(const RaggedColumn& self) {
  if (self.depth + 1 < self.column.row_splits.size()) return nb::cast(RaggedColumn{self.column, self.depth + 1});
  return flat_values_to_python(self.column);
}

std::int64_t ragged_rows(const RaggedColumn& self) { return self.column.row_splits[self.depth].elements() - 1; }

nb::object interchange(const char* function, nb::handle self) {
  return nb::module_::import_("headrace.interchange").attr(function)(self);
}

void bind_ragged(nb::module_& m) {
  nb::class_<RaggedColumn>(m, "Ragged",
                           "One feature of a batch with rows of different length: row i is "
                           "values[row_splits[i]:row_splits[i + 1]].")
      .def_prop_ro("values", ragged_values,
                   "What the rows are cut from: DenseColumn or BytesColumn, or a Ragged when the rows are ragged too.")
      .def_prop_ro(
          "row_splits", [](const RaggedColumn& self) { return DenseColumn{self.column.row_splits[self.depth]}; },
          "int64 [rows + 1], from 0.")
      .def_prop_ro(
          "flat_values", [](const RaggedColumn& self) { return flat_values_to_python(self.column); },
          "The values below the innermost ragged dimension.")
      .def_prop_ro(
          "nested_row_splits",
          [](const RaggedColumn& self) {
            nb::list splits;
            for (std::size_t d = self.depth; d < self.column.row_splits.size(); ++d) {
              splits.append(DenseColumn{self.column.row_splits[d]});
            }
            return nb::tuple(splits);
          },
          "The row splits of every ragged dimension, outermost first.")
      .def_prop_ro(
          "dtype", [](const RaggedColumn& self) { return dtype_name(self.column.values.dtype); },
          "NumPy's name of the type of the values.")
      .def(
          "to_sparse", [](nb::handle_t<RaggedColumn> self) { return interchange("to_sparse", self); },
          "(indices int64 [n, rank], values [n], dense_shape int64 [rank]) as TensorFlow's sparse tensors have them.")
      .def(
          "tolist", [](nb::handle_t<RaggedColumn> self) { return interchange("ragged_to_list", self); },
          "The rows as nested lists.")
      .def("__arrow_array__", arrow_array, "type"_a = nb::none(),
           "A pyarrow.LargeListArray over the same memory (pyarrow.array calls this).")
      .def("__len__", ragged_rows)
      .def("__getitem__",
           [](const RaggedColumn& self, std::int64_t asked) -> nb::object {
             const std::int64_t row = asked < 0 ? asked + ragged_rows(self) : asked;
             if (row < 0 || row >= ragged_rows(self)) throw nb::index_error("row out of range");
             if (self.depth + 1 < self.column.row_splits.size()) {
               throw nb::type_error("rows of a nested Ragged: use tolist(), or values and row_splits");
             }
             require_host(self.column.row_splits[self.depth]);
             const auto* splits = reinterpret_cast<const std::int64_t*>(self.column.row_splits[self.depth].data);
             nb::object values = ragged_values(self);
             return values.attr("numpy")()[nb::slice(splits[row], splits[row + 1])];
           })
      .def("__repr__", [](const RaggedColumn& self) {
        return "<headrace.Ragged " + std::to_string(ragged_rows(self)) + " rows, values " +
               describe(self.column.values) + ">";
      });
}

std::int64_t jagged_rows(const JaggedColumn& self) {
  return self.column.row_splits[1].elements() / static_cast<std::int64_t>(self.column.keys->size());
}

void bind_jagged(nb::module_& m) {
  nb::class_<JaggedColumn>(m, "JaggedColumn",
                           "The lists of several features of a batch in one array: all rows of the first key, then all "
                           "rows of the next. List i = key * rows + row is values[offsets[i]:offsets[i + 1]].")
      .def_prop_ro(
          "keys",
          [](const JaggedColumn& self) {
            nb::list keys;
            for (const std::string& key : *self.column.keys) keys.append(text_to_python(key));
            return nb::tuple(keys);
          },
          "The keys, in order.")
      .def_prop_ro(
          "values", [](const JaggedColumn& self) { return flat_values_to_python(self.column); },
          "What the lists are cut from: DenseColumn or BytesColumn [total].")
      .def_prop_ro(
          "offsets", [](const JaggedColumn& self) { return DenseColumn{self.column.row_splits[0]}; },
          "int64 [keys * rows + 1], from 0.")
      .def_prop_ro(
          "lengths", [](const JaggedColumn& self) { return DenseColumn{self.column.row_splits[1]}; },
          "int64 [keys * rows].")
      .def_prop_ro(
          "dtype", [](const JaggedColumn& self) { return dtype_name(self.column.values.dtype); },
          "NumPy's name of the type of the values.")
      .def(
          "to_keyed_jagged_tensor",
          [](nb::handle_t<JaggedColumn> self) { return interchange("to_keyed_jagged_tensor", self); },
          "A torchrec KeyedJaggedTensor over the same memory; imports torchrec.")
      .def(
          "todict", [](nb::handle_t<JaggedColumn> self) { return interchange("jagged_to_dict", self); },
          "{key: the rows as nested lists}.")
      .def("__len__", jagged_rows, "Rows.")
      .def("__repr__", [](const JaggedColumn& self) {
        return "<headrace.JaggedColumn " + std::to_string(self.column.keys->size()) + " keys, " +
               std::to_string(jagged_rows(self)) + " rows, values " + describe(self.column.values) + ">";
      });
}

}  // namespace

std::string describe(const Tensor& tensor) {
  std::string text = std::string(to_string(tensor.dtype)) + " [";
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(tensor.shape[d]);
  }
  return text + "]";
}

nb::object flat_values_to_python(const Column& column) {
  if (column.values.dtype != DType::kBytes) return nb::cast(DenseColumn{column.values});
  Column strings = column;
  strings.kind = ColumnKind::kDense;
  strings.row_splits.clear();
  strings.keys.reset();
  return nb::cast(BytesColumn{std::move(strings)});
}

nb::object column_to_python(const Column& column) {
  if (column.kind == ColumnKind::kRagged) return nb::cast(RaggedColumn{column, 0});
  if (column.kind == ColumnKind::kSparse) return nb::cast(SparseColumn{column});
  if (column.kind == ColumnKind::kJagged) return nb::cast(JaggedColumn{column});
  if (column.values.dtype == DType::kBytes) return nb::cast(BytesColumn{column});
  return nb::cast(DenseColumn{column.values});
}

void bind_column(nb::module_& m) {
  bind_dense(m);
  bind_bytes(m);
  bind_ragged(m);
  bind_jagged(m);
}

}  // namespace headrace::python

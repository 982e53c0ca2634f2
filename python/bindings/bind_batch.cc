#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <utility>

#include "batch_handle.h"
#include "bindings.h"
#include "column.h"
#include "failure.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

const Slice& columns_of(const SliceHandle& self) { return *self.slice; }
const Slice& columns_of(const BatchHandle& self) { return *self.replicas()[0]; }
const Column* find(SliceHandle& self, std::string_view name) { return self.slice->find(name); }
const Column* find(BatchHandle& self, std::string_view name) { return self.find(name); }

std::string_view key_text(nb::handle key) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

template <class Handle>
nb::list names(const Handle& self) {
  nb::list list;
  for (const Column& column : columns_of(self).columns) list.append(text_to_python(column.name));
  return list;
}

template <class Handle>
nb::object get_item(Handle& self, nb::handle key) {
  const Column* column = PyUnicode_Check(key.ptr()) ? find(self, key_text(key)) : nullptr;
  if (column == nullptr) {
    PyErr_SetObject(PyExc_KeyError, key.ptr());
    throw nb::python_error();
  }
  return column_to_python(*column);
}

// The methods of collections.abc.Mapping over the names of the columns, in schema order.
template <class Handle>
void bind_mapping(nb::class_<Handle>& type) {
  type.def("__getitem__", get_item<Handle>, "The column of that name; KeyError.")
      .def("__len__", [](const Handle& self) { return columns_of(self).columns.size(); })
      .def("__iter__", [](const Handle& self) { return nb::iter(names(self)); })
      .def("__contains__",
           [](const Handle& self, nb::handle key) {
             return PyUnicode_Check(key.ptr()) && columns_of(self).find(key_text(key)) != nullptr;
           })
      .def("keys", names<Handle>, "The names, in schema order.")
      .def("values",
           [](Handle& self) {
             nb::list list;
             for (const Column& column : columns_of(self).columns) {
               list.append(column_to_python(*find(self, column.name)));
             }
             return list;
           })
      .def("items",
           [](Handle& self) {
             nb::list list;
             for (const Column& column : columns_of(self).columns) {
               list.append(nb::make_tuple(text_to_python(column.name), column_to_python(*find(self, column.name))));
             }
             return list;
           })
      .def(
          "get",
          [](Handle& self, nb::handle key, nb::object otherwise) {
            const Column* column = PyUnicode_Check(key.ptr()) ? find(self, key_text(key)) : nullptr;
            return column == nullptr ? std::move(otherwise) : column_to_python(*column);
          },
          nb::arg("key"), nb::arg("default") = nb::none());
}

nb::tuple replica_tuple(const BatchHandle& self) {
  nb::list list;
  for (const auto& slice : self.replicas()) list.append(SliceHandle{slice});
  return nb::tuple(list);
}

nb::tuple replica_rows(const BatchHandle& self) {
  nb::list list;
  for (const auto& slice : self.replicas()) list.append(slice->rows);
  return nb::tuple(list);
}

}  // namespace

BatchHandle::BatchHandle(Batch batch, std::shared_ptr<const Schema> schema)
    : number_(batch.number), epoch_(batch.epoch), global_rows_(batch.global_rows), schema_(std::move(schema)) {
  replicas_.reserve(batch.replicas.size());
  for (Slice& slice : batch.replicas) replicas_.push_back(std::make_shared<const Slice>(std::move(slice)));
}

const Column* BatchHandle::find(std::string_view name) {
  if (replicas_.size() == 1) return replicas_[0]->find(name);
  const auto known = joined_.find(std::string(name));
  if (known != joined_.end()) return &known->second;
  std::vector<const Column*> parts;
  for (const auto& slice : replicas_) {
    const Column* part = slice->find(name);
    if (part == nullptr) return nullptr;
    parts.push_back(part);
  }
  const Feature* feature = nullptr;
  if (schema_ != nullptr) {
    for (const Feature& candidate : schema_->features) {
      if (candidate.name == name) feature = &candidate;
    }
  }
  return &joined_.emplace(name, join_columns(parts, feature)).first->second;
}

void bind_batch(nb::module_& m) {
  auto slice = nb::class_<SliceHandle>(m, "Slice", "One replica's share of a batch: a mapping from name to column.");
  bind_mapping(slice);
  slice
      .def_prop_ro(
          "rows", [](const SliceHandle& self) { return self.slice->rows; }, "Rows of this share.")
      .def("__repr__", [](const SliceHandle& self) {
        return "<headrace.Slice " + std::to_string(self.slice->rows) + " rows, " +
               std::to_string(self.slice->columns.size()) + " columns>";
      });

  auto batch = nb::class_<BatchHandle>(m, "Batch",
                                       "One global batch: a mapping from name to column over all replicas (joined by a "
                                       "copy at the first access when there are several), and their shares.");
  bind_mapping(batch);
  batch.def_prop_ro("replicas", replica_tuple, "The shares, one Slice per device.")
      .def_prop_ro("replica_rows", replica_rows, "Rows of each share.")
      .def_prop_ro("global_rows", &BatchHandle::global_rows, "Rows of all shares.")
      .def_prop_ro("number", &BatchHandle::number, "Batches of this stream before this one.")
      .def_prop_ro("epoch", &BatchHandle::epoch, "Epoch of the first row, from 0.")
      .def("__repr__", [](const BatchHandle& self) {
        return "<headrace.Batch " + std::to_string(self.number()) + ": " + std::to_string(self.global_rows()) +
               " rows, " + std::to_string(columns_of(self).columns.size()) + " columns, " +
               std::to_string(self.replicas().size()) + " replicas>";
      });
}

}  // namespace headrace::python

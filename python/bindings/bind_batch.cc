#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "batch_handle.h"
#include "bindings.h"
#include "column.h"
#include "failure.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

template <class Handle>
nb::object get_item(Handle& self, nb::handle key) {
  const std::optional<std::size_t> place = self.column_names().find(key);
  if (!place) {
    PyErr_SetObject(PyExc_KeyError, key.ptr());
    throw nb::python_error();
  }
  return column_to_python(self.column(*place));
}

template <class Handle>
nb::object get_or(Handle& self, nb::handle key, nb::object otherwise) {
  const std::optional<std::size_t> place = self.column_names().find(key);
  return place ? column_to_python(self.column(*place)) : std::move(otherwise);
}

template <class Handle>
std::size_t count(const Handle& self) {
  return self.column_names().all().size();
}

template <class Handle>
nb::list names(const Handle& self) {
  return nb::steal<nb::list>(PyList_GetSlice(self.column_names().all().ptr(), 0, PY_SSIZE_T_MAX));
}

template <class Handle>
nb::list values(Handle& self) {
  nb::list list;
  for (std::size_t place = 0; place < count(self); ++place) list.append(column_to_python(self.column(place)));
  return list;
}

template <class Handle>
nb::list items(Handle& self) {
  nb::list list;
  std::size_t place = 0;
  for (nb::handle name : self.column_names().all()) {
    list.append(nb::make_tuple(name, column_to_python(self.column(place++))));
  }
  return list;
}

// The methods of collections.abc.Mapping over the names of the columns, in schema order.
template <class Handle>
void bind_mapping(nb::class_<Handle>& type) {
  type.def("__getitem__", get_item<Handle>, "The column of that name; KeyError.")
      .def("__len__", count<Handle>)
      .def("__iter__", [](const Handle& self) { return nb::iter(self.column_names().all()); })
      .def("__contains__", [](const Handle& self, nb::handle key) { return self.column_names().find(key).has_value(); })
      .def("keys", names<Handle>, "The names, in schema order.")
      .def("values", values<Handle>)
      .def("items", items<Handle>)
      .def("get", get_or<Handle>, nb::arg("key"), nb::arg("default") = nb::none())
      .def(
          "to_numpy",
          [](nb::handle_t<Handle> self) { return nb::module_::import_("headrace.interchange").attr("to_numpy")(self); },
          "A dict of name to numpy array: numbers without a copy, strings as objects of bytes. A Ragged, a Sparse or a "
          "JaggedColumn stays what it is.");
}

nb::tuple replica_tuple(const BatchHandle& self) {
  nb::list list;
  for (std::size_t i = 0; i < self.replicas().size(); ++i) list.append(self.replica(i));
  return nb::tuple(list);
}

nb::tuple replica_rows(const BatchHandle& self) {
  // Padding stands behind all records.
  nb::list list;
  std::int64_t left = self.global_rows() - self.first_row();
  for (const auto& slice : self.replicas()) {
    const std::int64_t rows = std::clamp(left, std::int64_t{0}, slice->rows);
    list.append(rows);
    left -= rows;
  }
  return nb::tuple(list);
}

nb::object mask(BatchHandle& self) {
  const nb::str name("_mask");
  return self.column_names().find(name) ? get_item(self, name) : nb::none();
}

}  // namespace

BatchHandle::BatchHandle(Batch batch, std::shared_ptr<const ColumnNames> names, std::shared_ptr<const Schema> schema)
    : number_(batch.number),
      epoch_(batch.epoch),
      global_rows_(batch.global_rows),
      first_row_(batch.first_row),
      names_(std::move(names)),
      schema_(std::move(schema)) {
  replicas_.reserve(batch.replicas.size());
  for (Slice& slice : batch.replicas) replicas_.push_back(std::make_shared<const Slice>(std::move(slice)));
}

const Column& BatchHandle::column(std::size_t place) {
  if (replicas_.size() == 1) return replicas_[0]->columns[place];
  const auto known = joined_.find(place);
  if (known != joined_.end()) return known->second;
  std::vector<const Column*> parts;
  for (const auto& slice : replicas_) parts.push_back(&slice->columns[place]);
  const Feature* feature = nullptr;
  if (schema_ != nullptr) {
    for (const Feature& candidate : schema_->features) {
      if (candidate.name == parts[0]->name) feature = &candidate;
    }
  }
  return joined_.emplace(place, join_columns(parts, feature)).first->second;
}

void bind_batch(nb::module_& m) {
  auto slice = nb::class_<SliceHandle>(m, "Slice", "One replica's share of a batch: a mapping from name to column.");
  bind_mapping(slice);
  slice
      .def_prop_ro(
          "rows", [](const SliceHandle& self) { return self.slice->rows; }, "Rows of this share.")
      .def("__repr__", [](const SliceHandle& self) {
        return "<headrace.Slice " + std::to_string(self.slice->rows) + " rows, " + std::to_string(count(self)) +
               " columns>";
      });

  auto batch =
      nb::class_<BatchHandle>(m, "Batch",
                              "One global batch: a mapping from name to column over all replicas (joined by a "
                              "copy at the first access when there are several; DeviceError where some are on CUDA "
                              "devices), and their shares.");
  bind_mapping(batch);
  batch.def_prop_ro("replicas", replica_tuple, "The shares, one Slice per device.")
      .def_prop_ro("replica_rows", replica_rows, "Records of each share; without padding.")
      .def_prop_ro("global_rows", &BatchHandle::global_rows,
                   "Records of all shares, those of other processes included, by which a sum of losses is divided.")
      .def_prop_ro("mask", mask,
                   "With remainder=\"pad\" the bool column `_mask`: false where a row is padding; else None.")
      .def_prop_ro("number", &BatchHandle::number, "Batches of this stream before this one.")
      .def_prop_ro("epoch", &BatchHandle::epoch, "Epoch of the first row, from 0.")
      .def("__repr__", [](const BatchHandle& self) {
        return "<headrace.Batch " + std::to_string(self.number()) + ": " + std::to_string(self.global_rows()) +
               " rows, " + std::to_string(count(self)) + " columns, " + std::to_string(self.replicas().size()) +
               " replicas>";
      });
}

}  // namespace headrace::python

#include "tensorflow_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "column.h"
#include "export.h"

namespace headrace::python {
namespace {

std::span<const std::int64_t> splits_of(const Column& column, std::size_t dimension) {
  const Tensor& splits = column.row_splits[dimension];
  return {reinterpret_cast<const std::int64_t*>(splits.data), static_cast<std::size_t>(splits.elements())};
}

template <class T>
std::span<T> elements_of(Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.data), static_cast<std::size_t>(tensor.elements())};
}

Tensor narrow_splits(const Column& column, std::size_t dimension) {
  const std::span<const std::int64_t> wide = splits_of(column, dimension);
  Tensor narrow = make_tensor(DType::kInt32, {static_cast<std::int64_t>(wide.size())});
  std::transform(wide.begin(), wide.end(), elements_of<std::int32_t>(narrow).begin(),
                 [](std::int64_t split) { return static_cast<std::int32_t>(split); });
  return narrow;
}

// Where the value in turn lies in a ragged column: the row at every ragged dimension.
class RaggedWalk {
 public:
  explicit RaggedWalk(const Column& column) : rows_(column.row_splits.size()) {
    for (std::size_t d = 0; d < rows_.size(); ++d) splits_.push_back(splits_of(column, d));
  }

  /// Moves on to `value` and writes its coordinates, rows first. Values come in order.
  void write_coordinates(std::int64_t value, std::int64_t* to) {
    std::int64_t place = value;
    for (std::size_t d = rows_.size(); d-- > 0;) {
      while (splits_[d][rows_[d] + 1] <= place) ++rows_[d];
      to[d + 1] = place - splits_[d][rows_[d]];
      place = static_cast<std::int64_t>(rows_[d]);
    }
    to[0] = place;
  }

 private:
  std::vector<std::span<const std::int64_t>> splits_;
  std::vector<std::size_t> rows_;
};

void append_sparse(const Column& column, std::vector<Tensor>& arrays) {
  const std::size_t rank = column.row_splits.size() + 1;
  const std::int64_t values = column.values.elements();
  Tensor indices = make_tensor(DType::kInt64, {values, static_cast<std::int64_t>(rank)});
  std::int64_t* at = reinterpret_cast<std::int64_t*>(indices.data);
  RaggedWalk walk(column);
  for (std::int64_t value = 0; value < values; ++value, at += rank) walk.write_coordinates(value, at);

  Tensor shape = make_tensor(DType::kInt64, {static_cast<std::int64_t>(rank)});
  const std::span<std::int64_t> extents = elements_of<std::int64_t>(shape);
  std::fill(extents.begin(), extents.end(), 0);
  extents[0] = column.row_splits[0].elements() - 1;
  for (std::size_t d = 0; d < column.row_splits.size(); ++d) {
    const std::span<const std::int64_t> splits = splits_of(column, d);
    for (std::size_t i = 1; i < splits.size(); ++i)
      extents[d + 1] = std::max(extents[d + 1], splits[i] - splits[i - 1]);
  }
  arrays.push_back(std::move(indices));
  arrays.push_back(column.values);
  arrays.push_back(std::move(shape));
}

void append_coordinates(const Column& column, std::vector<Tensor>& arrays) {
  Tensor shape = make_tensor(DType::kInt64, {static_cast<std::int64_t>(column.dense_shape.size())});
  std::copy(column.dense_shape.begin(), column.dense_shape.end(), elements_of<std::int64_t>(shape).begin());
  arrays.push_back(column.indices);
  arrays.push_back(column.values);
  arrays.push_back(std::move(shape));
}

bool fits(ColumnKind kind, TensorflowForm form) {
  switch (form) {
    case TensorflowForm::kDense:
      return kind == ColumnKind::kDense;
    case TensorflowForm::kRagged64:
    case TensorflowForm::kRagged32:
      return kind == ColumnKind::kRagged;
    case TensorflowForm::kSparse:
      break;
  }
  return kind == ColumnKind::kRagged || kind == ColumnKind::kSparse;
}

// TensorFlow copies strings of VIEW type by their address, so that they could outlive the records: it gets its own.
Result<Tensor> copy_views(const Column& column) {
  std::vector<std::string_view> strings(static_cast<std::size_t>(column.values.elements()));
  for (std::size_t i = 0; i < strings.size(); ++i) strings[i] = column.bytes_at(static_cast<std::int64_t>(i));
  HEADRACE_RETURN_IF_ERROR(check_bytes_column(strings));
  return make_bytes_column(column.values.shape, strings).values;
}

}  // namespace

Result<std::vector<Tensor>> TensorflowPlan::expand(const Slice& slice) const {
  std::vector<Tensor> arrays;
  arrays.reserve(items_.size() * 2);
  for (const TensorflowItem& item : items_) {
    const Column* column = slice.find(item.name);
    if (column == nullptr) return invalid_argument("the batch has no column '" + item.name + "'");
    if (!fits(column->kind, item.form)) return invalid_argument("column '" + item.name + "' is not as planned");
    switch (item.form) {
      case TensorflowForm::kDense:
        if (column->is_view()) {
          HEADRACE_ASSIGN_OR_RETURN(Tensor strings, copy_views(*column));
          arrays.push_back(std::move(strings));
          break;
        }
        arrays.push_back(column->values);
        break;
      case TensorflowForm::kRagged64:
        arrays.push_back(column->values);
        arrays.insert(arrays.end(), column->row_splits.begin(), column->row_splits.end());
        break;
      case TensorflowForm::kRagged32:
        arrays.push_back(column->values);
        for (std::size_t d = 0; d < column->row_splits.size(); ++d) arrays.push_back(narrow_splits(*column, d));
        break;
      case TensorflowForm::kSparse:
        if (column->kind == ColumnKind::kSparse) {
          append_coordinates(*column, arrays);
        } else {
          append_sparse(*column, arrays);
        }
        break;
    }
  }
  return arrays;
}

}  // namespace headrace::python

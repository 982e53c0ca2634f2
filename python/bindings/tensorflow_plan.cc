#include "tensorflow_plan.h"

#include <algorithm>
#include <span>
#include <utility>

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

void append_sparse(const Column& column, std::vector<Tensor>& arrays) {
  const std::span<const std::int64_t> splits = splits_of(column, 0);
  const std::int64_t rows = static_cast<std::int64_t>(splits.size()) - 1;
  Tensor indices = make_tensor(DType::kInt64, {splits.back(), 2});
  std::int64_t* at = reinterpret_cast<std::int64_t*>(indices.data);
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t count = splits[static_cast<std::size_t>(row) + 1] - splits[static_cast<std::size_t>(row)];
    longest = std::max(longest, count);
    for (std::int64_t i = 0; i < count; ++i) {
      *at++ = row;
      *at++ = i;
    }
  }
  Tensor shape = make_tensor(DType::kInt64, {2});
  elements_of<std::int64_t>(shape)[0] = rows;
  elements_of<std::int64_t>(shape)[1] = longest;
  arrays.push_back(std::move(indices));
  arrays.push_back(column.values);
  arrays.push_back(std::move(shape));
}

}  // namespace

Result<std::vector<Tensor>> TensorflowPlan::expand(const Slice& slice) const {
  std::vector<Tensor> arrays;
  arrays.reserve(items_.size() * 2);
  for (const TensorflowItem& item : items_) {
    const Column* column = slice.find(item.name);
    if (column == nullptr) return invalid_argument("the batch has no column '" + item.name + "'");
    const bool ragged = column->kind == ColumnKind::kRagged;
    if (ragged != (item.form != TensorflowForm::kDense)) {
      return invalid_argument("column '" + item.name + "' is " + (ragged ? "ragged" : "dense") + ", not as planned");
    }
    switch (item.form) {
      case TensorflowForm::kDense:
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
        append_sparse(*column, arrays);
        break;
    }
  }
  return arrays;
}

}  // namespace headrace::python

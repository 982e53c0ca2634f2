// TensorflowPlan: which arrays TensorFlow gets of a slice, and in which order.
//
// TensorFlow takes a slice as a flat list of dense arrays and puts the composite tensors together by itself: a ragged column
// is its flat values and the row splits of each ragged dimension, a sparse one its indices, values and dense shape.
// A plan is constant after construction and may be used from any thread; expand() touches no Python object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/batch.h"
#include "headrace/status.h"

namespace headrace::python {

enum class TensorflowForm : std::uint8_t {
  kDense = 0,     ///< values
  kRagged64 = 1,  ///< values, row splits (int64) outermost first
  kRagged32 = 2,  ///< values, row splits (int32) outermost first
  kSparse = 3,    ///< indices int64 [n, rank], values [n], dense shape int64 [rank], as tf.io.parse_example gives them
};

struct TensorflowItem {
  std::string name;
  TensorflowForm form = TensorflowForm::kDense;
};

class TensorflowPlan {
 public:
  explicit TensorflowPlan(std::vector<TensorflowItem> items) : items_(std::move(items)) {}

  /// The arrays of `slice` in plan order. Values share the slice's memory; int32 splits and the indices of ragged columns are
  /// new.
  /// kInvalidArgument when the slice lacks a column of the plan, or has it in another form.
  Result<std::vector<Tensor>> expand(const Slice& slice) const;

 private:
  std::vector<TensorflowItem> items_;
};

}  // namespace headrace::python

// DatasetBuilder: the one place that makes datasets. It checks the order, gives the id, keeps the first failure.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "headrace/dataset.h"
#include "pipeline/dataset_state.h"
#include "pipeline/grammar.h"
#include "pipeline/op.h"

namespace headrace {

/// For who gave no seed.
std::int64_t draw_seed();

class DatasetBuilder {
 public:
  /// A dataset that begins with `op`.
  static Dataset begin(Status check, Op op) {
    Dataset dataset;
    dataset.status_ = std::move(check);
    dataset.op_ = std::make_shared<const Op>(std::move(op));
    dataset.shared_ = std::make_shared<Dataset::Shared>();
    return dataset;
  }

  template <class Arguments>
  static Dataset extend(const Dataset& input, Status argument_check, Arguments arguments) {
    Dataset result = input;
    if (!result.status_.ok()) return result;
    Op op{input.op_->id + 1, input.op_, std::move(arguments)};
    result.status_ = argument_check.ok() ? check_order(input.op_, op) : std::move(argument_check);
    if (!result.status_.ok()) return result;
    result.op_ = std::make_shared<const Op>(std::move(op));
    result.shared_ = std::make_shared<Dataset::Shared>();
    if (const auto* cardinality = find_op<CardinalityOp>(result.op_)) {
      result.shared_->source_records = cardinality->records;
    }
    return result;
  }

  static Dataset combine(const std::string& step, const std::vector<Dataset>& datasets, Status argument_check,
                         decltype(CombineOp::how) how) {
    std::vector<CombinedInput> inputs;
    for (const Dataset& dataset : datasets) {
      if (!dataset.status_.ok()) return dataset;
      inputs.push_back({dataset.op_, dataset.shared_});
    }
    Status check = check_combined(step, inputs);
    if (check.ok()) check = std::move(argument_check);
    if (!check.ok()) return begin(std::move(check), Op{0, nullptr, SourceOp{}});
    return begin({}, Op{0, nullptr, CombineOp{std::move(inputs), std::move(how)}});
  }
};

}  // namespace headrace

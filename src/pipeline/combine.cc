// concatenate(), sample_from_datasets(), choose_from_datasets(): the datasets whose records come from several.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "headrace/dataset.h"
#include "pipeline/dataset_builder.h"
#include "pipeline/grammar.h"

namespace headrace {
namespace {

Status check_weights(const SampleOptions& options, std::size_t datasets) {
  constexpr const char* kOp = "sample_from_datasets(): ";
  if (options.weights.size() != datasets) {
    return invalid_argument(std::string(kOp) + std::to_string(options.weights.size()) + " weights for " +
                            std::to_string(datasets) + " datasets");
  }
  double sum = 0;
  for (const double weight : options.weights) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      return invalid_argument(std::string(kOp) + "weights has " + std::to_string(weight) +
                              "; each must be a number >= 0");
    }
    sum += weight;
  }
  if (sum > 0 && std::isfinite(sum)) return {};
  return invalid_argument(std::string(kOp) + "the sum of the weights is " + std::to_string(sum));
}

Status check_choices(const ChooseOptions& options, std::size_t datasets) {
  constexpr const char* kOp = "choose_from_datasets(): ";
  if (options.choices.empty()) return invalid_argument(std::string(kOp) + "choices is empty");
  for (const std::int64_t choice : options.choices) {
    if (choice < 0 || choice >= static_cast<std::int64_t>(datasets)) {
      return invalid_argument(std::string(kOp) + "choices has " + std::to_string(choice) + "; there are " +
                              std::to_string(datasets) + " datasets");
    }
  }
  return {};
}

}  // namespace

Dataset Dataset::concatenate(const Dataset& other) const {
  return DatasetBuilder::combine("concatenate", {*this, other}, Status(), ConcatenateOp{});
}

Dataset sample_from_datasets(const std::vector<Dataset>& datasets, const SampleOptions& options) {
  SampleOptions complete = options;
  if (!complete.seed) complete.seed = draw_seed();
  if (complete.weights.empty()) complete.weights.assign(datasets.size(), 1.0);
  Status check = check_weights(complete, datasets.size());
  return DatasetBuilder::combine("sample_from_datasets", datasets, std::move(check), SampleOp{std::move(complete)});
}

Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const ChooseOptions& options) {
  return DatasetBuilder::combine("choose_from_datasets", datasets, check_choices(options, datasets.size()),
                                 ChooseOp{options});
}

}  // namespace headrace

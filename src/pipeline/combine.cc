// concatenate(), sample_from_datasets(), choose_from_datasets(): the datasets whose records come from several.
#include "pipeline/combine.h"

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

std::optional<ChoiceOptions> choice_options(const CombineOp& combine) {
  if (const auto* sample = std::get_if<SampleOp>(&combine.how)) {
    return ChoiceOptions{.weights = sample->options.weights,
                         .seed = static_cast<std::uint64_t>(*sample->options.seed),
                         .rerandomize_each_iteration = sample->options.rerandomize_each_iteration};
  }
  const auto* choose = std::get_if<ChooseOp>(&combine.how);
  if (choose == nullptr) return std::nullopt;
  const std::vector<std::int64_t>& choices = choose->options.choices;
  return ChoiceOptions{.pattern = std::vector<std::uint32_t>(choices.begin(), choices.end())};
}

bool stops_on_empty(const CombineOp& combine) {
  if (const auto* sample = std::get_if<SampleOp>(&combine.how)) return sample->options.stop_on_empty;
  const auto* choose = std::get_if<ChooseOp>(&combine.how);
  return choose != nullptr && choose->options.stop_on_empty;
}

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

#include "batch/choices.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace headrace {

Choices::Choices(ChoiceOptions options) : options_(std::move(options)) {
  double sum = 0;
  for (const double weight : options_.weights) ends_.push_back(sum += weight);
  begin_epoch(0);
}

void Choices::begin_epoch(std::uint64_t epoch) {
  key_ = random_key(options_.seed, options_.rerandomize_each_iteration ? epoch : 0);
}

std::uint32_t Choices::at(std::uint64_t position) const {
  if (!options_.pattern.empty()) return options_.pattern[position % options_.pattern.size()];
  // 53 random bits make a double in [0, 1); the product may be rounded up to the sum itself.
  const double unit = static_cast<double>(random_u64(key_, position) >> 11) * 0x1p-53;
  const auto last = std::lower_bound(ends_.begin(), ends_.end(), ends_.back());
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), last, unit * ends_.back()) - ends_.begin());
}

bool Choices::has(std::uint32_t input) const {
  if (options_.pattern.empty()) return options_.weights[input] > 0;
  return std::find(options_.pattern.begin(), options_.pattern.end(), input) != options_.pattern.end();
}

}  // namespace headrace

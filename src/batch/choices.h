// Choices: from which of several inputs record p of a stream comes. A pure function of the options, the epoch and p.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace {

struct ChoiceOptions {
  /// Record p comes from input pattern[p % size]. Empty: weights decide.
  std::vector<std::uint32_t> pattern;
  /// Of each input, >= 0, finite, not all 0: each record comes from input i with the probability weights[i] / sum.
  std::vector<double> weights;
  std::uint64_t seed = 0;
  bool rerandomize_each_iteration = false;  ///< another random sequence each epoch
};

class Choices {
 public:
  explicit Choices(ChoiceOptions options);

  /// Epoch 0 has begun already.
  void begin_epoch(std::uint64_t epoch);
  std::uint32_t at(std::uint64_t position) const;
  /// Whether any position comes from this input.
  bool has(std::uint32_t input) const;

 private:
  const ChoiceOptions options_;
  std::vector<double> ends_;  // ends_[i]: sum of the weights up to that of input i; the last one is the sum
  std::uint64_t key_ = 0;
};

}  // namespace headrace

// Filter: which records Dataset::filter() keeps, by the values of their features. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "headrace/status.h"

namespace headrace {

/// What is compared: the one value of a feature, each of its values (one that fits is enough), or how many there are.
enum class FilterSubject : std::uint8_t { kValue = 1, kAny, kCount };

enum class Comparison : std::uint8_t {
  kEqual = 1,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,  ///< equal to one of the operands
};

/// `subject of key` `comparison` `operands`.
struct FilterTerm {
  using Values = std::variant<std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>>;

  std::string key;
  FilterSubject subject = FilterSubject::kValue;
  Comparison comparison = Comparison::kEqual;
  Values operands;  ///< of the feature's kind, for kCount int64; one, for kIn any number
  Values fallback;  ///< kValue: the value where the feature is missing; none: a missing feature is a failure
};

enum class FilterStep : std::uint8_t { kTerm = 1, kNot, kAnd, kOr };

/// A postfix expression: each kTerm pushes the answer of the next term, the others work on the last one or two answers.
/// A kAnd and a kOr look at both sides.
struct Filter {
  std::vector<FilterTerm> terms;
  std::vector<FilterStep> steps;

  /// Ok, or kInvalidArgument.
  Status validate() const;
  /// As in "(label == 3) & (tags.count > 0)"; part of a saved position.
  std::string text() const;
};

}  // namespace headrace

// Predicate: a Filter evaluated on serialized Examples, without parsing more than the features it names.
//
// One object per thread. A record is read as the parser reads it (example_reader.h, list_decoder.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "example/example_reader.h"
#include "headrace/filter.h"

namespace headrace {

class Predicate {
 public:
  /// `filter` has been validated.
  explicit Predicate(const Filter& filter);

  /// Whether the record stays. It must be followed by kRecordPadding readable bytes. kSchemaMismatch when it is malformed, a
  /// feature is of another kind, or one that is compared by its value is missing or has not exactly one.
  Result<bool> keeps(std::span<const std::uint8_t> record);

 private:
  Result<bool> holds(const FilterTerm& term, const FeatureView& list);
  template <class Value>
  Result<bool> compare(const FilterTerm& term, std::span<const Value> found) const;
  Status wrong(const FilterTerm& term, std::string expected, std::string found) const;

  const Filter filter_;
  ExampleReader reader_;
  std::vector<std::size_t> keys_;  ///< by term
  std::vector<FeatureView> views_;
  // The values of one feature.
  std::vector<std::int64_t> ints_;
  std::vector<float> floats_;
  std::vector<std::string_view> strings_;
};

}  // namespace headrace

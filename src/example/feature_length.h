// FeatureLength: how many values a record has of one feature, without decoding them.
//
// One object per thread. A record is read as the parser reads it (example_reader.h, sequence_reader.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "example/example_reader.h"
#include "example/sequence_reader.h"

namespace headrace {

class FeatureLength {
 public:
  /// `sequence`: the records are SequenceExamples, and the length is the number of steps of a feature list.
  FeatureLength(std::string key, bool sequence);

  /// 0 where the feature is missing. The record must be followed by kRecordPadding readable bytes. kSchemaMismatch, naming
  /// the key where it is to blame, when the record or the list is malformed.
  Result<std::int64_t> of(std::span<const std::uint8_t> record);

 private:
  Result<std::int64_t> steps_of(std::span<const std::uint8_t> record);
  Status malformed() const;

  const std::string key_;
  ExampleReader reader_;
  std::optional<SequenceReader> sequence_reader_;
  StepScratch scratch_;
};

}  // namespace headrace

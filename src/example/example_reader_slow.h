// SlowExampleReader: finds the wanted features of any legal tf.train.Example, in any wire form. The reference.
//
// ExampleReader hands over every record that is not in the usual form: unknown fields, features in several pieces, entries
// without key or value, lists in several pieces (merged here), malformed records (the error comes from here).
// Two walks: the first finds the last entry of each wanted key, the second looks into these entries only, so that what
// nobody asks for cannot fail a record. One object per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "example/feature_joiner.h"
#include "example/map_entries.h"
#include "headrace/status.h"

namespace headrace {

class SlowExampleReader {
 public:
  explicit SlowExampleReader(std::shared_ptr<const KeySet> keys) : entries_(std::move(keys)) {}

  /// As ExampleReader::read. Merged lists live in this object until take_merged().
  Status read(std::span<const std::uint8_t> record, std::span<FeatureView> views);
  std::vector<MergedList> take_merged() { return std::exchange(merged_, {}); }
  /// True when the last record had the field that holds feature_lists in a SequenceExample.
  bool saw_feature_lists() const { return saw_feature_lists_; }

 private:
  using Bytes = std::span<const std::uint8_t>;

  /// These give nullptr, or what is malformed.
  const char* find_entries(Bytes record);
  const char* read_entry(Bytes entry, FeatureView* view);

  MapEntries entries_;
  FeatureJoiner joiner_;
  std::vector<MergedList> merged_;
  bool saw_feature_lists_ = false;
};

}  // namespace headrace

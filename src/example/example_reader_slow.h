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
#include <string>
#include <vector>

#include "example/feature_view.h"
#include "example/key_set.h"
#include "headrace/status.h"

namespace headrace {

class SlowExampleReader {
 public:
  explicit SlowExampleReader(std::shared_ptr<const KeySet> keys);

  /// As ExampleReader::read. Merged lists live in this object until the next call.
  Status read(std::span<const std::uint8_t> record, std::span<FeatureView> views);
  /// True when the last record had the field that holds feature_lists in a SequenceExample.
  bool saw_feature_lists() const { return saw_feature_lists_; }

 private:
  using Bytes = std::span<const std::uint8_t>;

  /// These give nullptr, or what is malformed.
  const char* find_entries(Bytes record);
  const char* find_entries_in_features(Bytes features);
  const char* read_entry(Bytes entry, FeatureView* view);
  const char* add_pieces(Bytes feature, ListKind* kind);
  FeatureView merge_pieces(ListKind kind);

  const std::shared_ptr<const KeySet> keys_;
  std::vector<Bytes> entries_;  ///< per key the last entry; null data = none
  std::vector<Bytes> pieces_;   ///< lists of the feature being read
  std::vector<std::unique_ptr<std::uint8_t[]>> merged_;
  bool saw_feature_lists_ = false;
};

/// As ExampleReader::list_keys.
std::vector<std::string> list_example_keys(std::span<const std::uint8_t> record, std::size_t limit);

}  // namespace headrace

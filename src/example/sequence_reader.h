// SequenceReader: finds the wanted feature lists of a serialized tf.train.SequenceExample, and where its context is.
//
// The context has the form of an Example: an ExampleReader reads it. Records in the form that every writer makes (context,
// then feature lists, each once) are read in one walk over the lists' entries; everything else by protobuf's rules, as
// ExampleReader does (SEMANTICS.md section 7). What nobody asks for is not looked into.
// One object per thread; KeySet is shared and constant.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "example/feature_list.h"
#include "example/map_entries.h"
#include "headrace/status.h"

namespace headrace {

class SequenceReader {
 public:
  using Bytes = std::span<const std::uint8_t>;

  explicit SequenceReader(std::shared_ptr<const KeySet> keys) : keys_(std::move(keys)), entries_(keys_) {}

  /// Fills lists[i] for key i of the set, and `context` with the part of the record that an ExampleReader reads. `record`
  /// must be followed by kRecordPadding readable bytes. A failure is kSchemaMismatch without a where, or with the key.
  Status read(Bytes record, Bytes* context, std::span<FeatureListView> lists);

  /// As ExampleReader::take_merged.
  std::vector<MergedList> take_merged() { return std::exchange(merged_, {}); }
  /// As ExampleReader::list_keys, of the feature lists.
  static std::vector<std::string> list_keys(Bytes record, std::size_t limit);

 private:
  bool read_usual_form(Bytes record, Bytes* context, std::span<FeatureListView> lists) const;
  Status read_any_form(Bytes record, std::span<FeatureListView> lists);
  /// These give nullptr, or what is malformed.
  const char* find_entries(Bytes record);
  const char* read_list(Bytes entry, FeatureListView* list);

  const std::shared_ptr<const KeySet> keys_;
  MapEntries entries_;
  std::vector<Bytes> pieces_;  ///< of the list being read
  std::vector<MergedList> merged_;
};

}  // namespace headrace

// ExampleReader: finds the wanted features of a serialized tf.train.Example.
//
// Three ways, from fast to careful; all give the same answers. Records in the usual form are read in one walk, with the
// order of the keys guessed from earlier records (key_order.h) and a hash (key_set.h) where the guess fails or guessing does
// not pay. Everything else goes to example_reader_slow.h, the reference. SEMANTICS.md section 3 is the contract (protobuf's
// rules: unknown fields are skipped, the last entry of a key counts, lists of one kind are merged, of the last kind kept).
// One object per thread; KeySet is shared and constant.
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

class ExampleReader {
 public:
  explicit ExampleReader(std::shared_ptr<const KeySet> keys);
  ~ExampleReader();
  ExampleReader(const ExampleReader&) = delete;
  ExampleReader& operator=(const ExampleReader&) = delete;

  /// Fills views[i] for key i of the set. `record` must be followed by kRecordPadding readable bytes. A failure is
  /// kSchemaMismatch without a where ("malformed record …"), or with the key when a wanted feature is malformed.
  Status read(std::span<const std::uint8_t> record, std::span<FeatureView> views);

  /// Hands over the lists that had to be joined since the last call: views of them stay valid as long as the caller keeps
  /// these.
  std::vector<MergedList> take_merged();
  /// True when the last record looked like a SequenceExample (it had feature_lists).
  bool saw_feature_lists() const;
  /// Keys of `record`, at most `limit`, for the text of an error; empty when it is malformed.
  static std::vector<std::string> list_keys(std::span<const std::uint8_t> record, std::size_t limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace

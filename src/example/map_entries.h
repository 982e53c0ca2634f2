// The string-keyed maps of a record, read by protobuf's rules: the features of an Example or a context, feature lists.
//
// A map is a message of entries, an entry one of key and value. What is missing has its default, the last part counts, but
// pieces of one value are one message. Unknown fields are skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "example/key_set.h"
#include "example/wire_field.h"

namespace headrace {

/// Field numbers of the maps in Example and SequenceExample.
constexpr std::uint32_t kFeaturesField = 1;
constexpr std::uint32_t kFeatureListsField = 2;

/// Whether these bytes begin like a text; for the hint of an error.
bool looks_like_text(std::span<const std::uint8_t> record);

/// The last entry of each wanted key.
class MapEntries {
 public:
  using Bytes = std::span<const std::uint8_t>;

  explicit MapEntries(std::shared_ptr<const KeySet> keys);

  /// Forgets all entries.
  void clear();
  /// Looks through a map, or one more piece of it. False when it is malformed.
  bool add(Bytes map);

  std::size_t size() const { return entries_.size(); }
  const std::string& key(std::size_t index) const { return keys_->key(index); }
  /// Entry of key `index`; null data when there is none.
  Bytes entry(std::size_t index) const { return entries_[index]; }

 private:
  const std::shared_ptr<const KeySet> keys_;
  std::vector<Bytes> entries_;
};

/// Gives `take` each piece of an entry's value, which add() has found well-formed: its first answer that is not null.
template <class Take>
const char* for_each_value_piece(std::span<const std::uint8_t> entry, Take take) {
  constexpr std::uint32_t kValue = 2;
  FieldReader parts(entry);
  WireField part;
  while (parts.next(&part)) {
    if (!part.is(kValue, WireType::kBytes)) continue;
    if (const char* reason = take(part.bytes)) return reason;
  }
  return nullptr;
}

/// The keys of the map in field `number` of `record`, at most `limit`; empty when it is malformed.
std::vector<std::string> list_map_keys(std::span<const std::uint8_t> record, std::uint32_t number, std::size_t limit);

}  // namespace headrace

// One entry of an Example's feature map in the form every writer makes: key, then value, the value one list or empty.
//
// Both functions give false for anything else, legal or not; example_reader_slow.h decides then. In line, for hot loops;
// the record must be padded by kRecordPadding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/wire.h"
#include "example/feature_view.h"

namespace headrace {

constexpr std::uint8_t kEntryTag = 0x0A;  // field 1, length-delimited; also the tag of "features" and of a key
constexpr std::uint8_t kKeyTag = 0x0A;
constexpr std::uint8_t kValueTag = 0x12;

/// Borrowed from the record.
struct ExampleEntry {
  const std::uint8_t* key;
  std::size_t key_size;
  const std::uint8_t* value;
  const std::uint8_t* end;  ///< of the value and of the entry
};

/// Reads a tag that must be `tag` and a length that must fit before `end`; the byte behind them, or null.
inline const std::uint8_t* read_head(std::uint8_t tag, const std::uint8_t* p, const std::uint8_t* end,
                                     std::uint64_t* size) {
  if (p == end || *p != tag) return nullptr;
  p = read_varint(p + 1, end, size);
  return p != nullptr && *size <= static_cast<std::uint64_t>(end - p) ? p : nullptr;
}

inline bool read_entry(const std::uint8_t* p, const std::uint8_t* end, ExampleEntry* entry) {
  std::uint64_t size = 0;
  p = read_head(kEntryTag, p, end, &size);
  if (p == nullptr) return false;
  entry->end = p + size;
  p = read_head(kKeyTag, p, entry->end, &size);
  if (p == nullptr) return false;
  entry->key = p;
  entry->key_size = static_cast<std::size_t>(size);
  p = read_head(kValueTag, p + size, entry->end, &size);
  entry->value = p;
  return p != nullptr && p + size == entry->end;
}

/// Reads a Feature.
inline bool read_value(const std::uint8_t* p, const std::uint8_t* end, FeatureView* view) {
  if (p == end) {
    *view = {};
    return true;
  }
  const unsigned kind = *p >> 3;
  std::uint64_t size = 0;
  if ((*p & 7) != 2 || kind < 1 || kind > 3) return false;
  p = read_head(*p, p, end, &size);
  if (p == nullptr || p + size != end || size > std::numeric_limits<std::uint32_t>::max()) return false;
  *view = {p, static_cast<std::uint32_t>(size), static_cast<ListKind>(kind)};
  return true;
}

}  // namespace headrace

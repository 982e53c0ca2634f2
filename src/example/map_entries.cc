#include "example/map_entries.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t kEntry = 1;
constexpr std::uint32_t kKey = 1;

// The key of an entry, "" when it has none; nothing when the entry is malformed.
std::optional<std::string_view> key_of(std::span<const std::uint8_t> entry) {
  FieldReader parts(entry);
  WireField part;
  std::string_view key;
  while (parts.next(&part)) {
    if (part.is(kKey, WireType::kBytes)) {
      key = {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()};
    }
  }
  if (parts.malformed()) return std::nullopt;
  return key;
}

}  // namespace

bool looks_like_text(std::span<const std::uint8_t> record) {
  const auto head = record.first(std::min<std::size_t>(record.size(), 32));
  return !head.empty() && std::all_of(head.begin(), head.end(), [](std::uint8_t c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

MapEntries::MapEntries(std::shared_ptr<const KeySet> keys) : keys_(std::move(keys)), entries_(keys_->size()) {}

void MapEntries::clear() { std::fill(entries_.begin(), entries_.end(), Bytes()); }

bool MapEntries::add(Bytes map) {
  FieldReader fields(map);
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(kEntry, WireType::kBytes)) continue;
    const std::optional<std::string_view> key = key_of(field.bytes);
    if (!key) return false;
    if (const int index = keys_->find(*key); index >= 0) entries_[static_cast<std::size_t>(index)] = field.bytes;
  }
  return !fields.malformed();
}

std::vector<std::string> list_map_keys(std::span<const std::uint8_t> record, std::uint32_t number, std::size_t limit) {
  std::vector<std::string> keys;
  FieldReader fields(record);
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(number, WireType::kBytes)) continue;
    FieldReader entries(field.bytes);
    WireField entry;
    while (keys.size() < limit && entries.next(&entry)) {
      if (!entry.is(kEntry, WireType::kBytes)) continue;
      const std::optional<std::string_view> key = key_of(entry.bytes);
      if (!key) return {};
      keys.emplace_back(*key);
    }
    if (entries.malformed()) return {};
  }
  if (fields.malformed()) return {};
  return keys;
}

}  // namespace headrace

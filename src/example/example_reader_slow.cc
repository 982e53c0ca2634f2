#include "example/example_reader_slow.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "example/wire_field.h"

namespace headrace {
namespace {

// Field numbers of Example (and SequenceExample), Features and the entries of its map.
constexpr std::uint32_t kFeatures = 1;
constexpr std::uint32_t kFeatureLists = 2;
constexpr std::uint32_t kEntry = 1;
constexpr std::uint32_t kKey = 1;
constexpr std::uint32_t kValue = 2;

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool looks_like_text(std::span<const std::uint8_t> record) {
  const auto head = record.first(std::min<std::size_t>(record.size(), 32));
  return !head.empty() && std::all_of(head.begin(), head.end(), [](std::uint8_t c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

// The key of an entry, "" when it has none; nothing when the entry is malformed.
std::optional<std::string_view> key_of(std::span<const std::uint8_t> entry) {
  FieldReader parts(entry);
  WireField part;
  std::string_view key;
  while (parts.next(&part)) {
    if (part.is(kKey, WireType::kBytes)) key = as_text(part.bytes);
  }
  if (parts.malformed()) return std::nullopt;
  return key;
}

}  // namespace

SlowExampleReader::SlowExampleReader(std::shared_ptr<const KeySet> keys)
    : keys_(std::move(keys)), entries_(keys_->size()) {}

Status SlowExampleReader::read(Bytes record, std::span<FeatureView> views) {
  saw_feature_lists_ = false;
  merged_.clear();
  std::fill(entries_.begin(), entries_.end(), Bytes());
  std::fill(views.begin(), views.end(), FeatureView());
  if (const char* reason = find_entries(record)) {
    std::string text = std::string("Could not parse example input: malformed record: ") + reason;
    if (looks_like_text(record)) text += " (the record looks like text)";
    return schema_mismatch(std::move(text));
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].data() == nullptr) continue;
    if (const char* reason = read_entry(entries_[i], &views[i])) {
      return schema_mismatch(std::string("Can't parse serialized Example: ") + reason, {.key = keys_->key(i)});
    }
  }
  return {};
}

const char* SlowExampleReader::find_entries(Bytes record) {
  FieldReader fields(record);
  WireField field;
  while (fields.next(&field)) {
    if (field.is(kFeatures, WireType::kBytes)) {
      if (const char* reason = find_entries_in_features(field.bytes)) return reason;
    } else if (field.is(kFeatureLists, WireType::kBytes)) {
      saw_feature_lists_ = true;
    }
  }
  return fields.malformed() ? "not a tf.train.Example" : nullptr;
}

const char* SlowExampleReader::find_entries_in_features(Bytes features) {
  FieldReader fields(features);
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(kEntry, WireType::kBytes)) continue;
    const std::optional<std::string_view> key = key_of(field.bytes);
    if (!key) return "a feature's entry is damaged";
    if (const int index = keys_->find(*key); index >= 0) entries_[static_cast<std::size_t>(index)] = field.bytes;
  }
  return fields.malformed() ? "its features are damaged" : nullptr;
}

const char* SlowExampleReader::read_entry(Bytes entry, FeatureView* view) {
  pieces_.clear();
  ListKind kind = ListKind::kAbsent;
  FieldReader parts(entry);
  WireField part;
  // A value in several pieces is one message, as protobuf merges them.
  while (parts.next(&part)) {
    if (!part.is(kValue, WireType::kBytes)) continue;
    if (const char* reason = add_pieces(part.bytes, &kind)) return reason;
  }
  std::size_t size = 0;
  for (const Bytes piece : pieces_) size += piece.size();
  if (size > std::numeric_limits<std::uint32_t>::max()) return "a list of 4 GiB or more";
  *view = merge_pieces(kind);
  return nullptr;
}

const char* SlowExampleReader::add_pieces(Bytes feature, ListKind* kind) {
  FieldReader fields(feature);
  WireField field;
  while (fields.next(&field)) {
    if (field.type != WireType::kBytes || field.number > static_cast<std::uint32_t>(ListKind::kInt64)) continue;
    const auto found = static_cast<ListKind>(field.number);
    if (found != *kind) pieces_.clear();  // a oneof: the last kind counts
    *kind = found;
    pieces_.push_back(field.bytes);
  }
  return fields.malformed() ? "the feature is damaged" : nullptr;
}

FeatureView SlowExampleReader::merge_pieces(ListKind kind) {
  if (pieces_.empty()) return {};
  if (pieces_.size() == 1) {
    return {pieces_[0].data(), static_cast<std::uint32_t>(pieces_[0].size()), kind};
  }
  std::size_t size = 0;
  for (const Bytes piece : pieces_) size += piece.size();
  // Fields that follow each other are one message, so joining the bytes merges the lists.
  merged_.push_back(std::make_unique<std::uint8_t[]>(size + kRecordPadding));
  std::uint8_t* out = merged_.back().get();
  for (const Bytes piece : pieces_) out = std::copy(piece.begin(), piece.end(), out);
  return {merged_.back().get(), static_cast<std::uint32_t>(size), kind};
}

std::vector<std::string> list_example_keys(std::span<const std::uint8_t> record, std::size_t limit) {
  std::vector<std::string> keys;
  FieldReader fields(record);
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(kFeatures, WireType::kBytes)) continue;
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

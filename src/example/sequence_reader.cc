#include "example/sequence_reader.h"

#include <algorithm>
#include <limits>

namespace headrace {

Status SequenceReader::read(Bytes record, Bytes* context, std::span<FeatureListView> lists) {
  std::fill(lists.begin(), lists.end(), FeatureListView());
  if (read_usual_form(record, context, lists)) [[likely]]
    return {};
  *context = record;
  std::fill(lists.begin(), lists.end(), FeatureListView());
  return read_any_form(record, lists);
}

bool SequenceReader::read_usual_form(Bytes record, Bytes* context, std::span<FeatureListView> lists) const {
  constexpr std::uint8_t kListsTag = kFeatureListsField << 3 | 2;
  const std::uint8_t* p = record.data();
  const std::uint8_t* end = p + record.size();
  std::uint64_t size = 0;
  if (const std::uint8_t* features = read_head(kEntryTag, p, end, &size)) p = features + size;
  *context = {record.data(), p};
  if (p == end) return true;
  p = read_head(kListsTag, p, end, &size);
  if (p == nullptr || size != static_cast<std::uint64_t>(end - p)) return false;
  for (ExampleEntry entry; p != end; p = entry.end) {
    if (!read_entry(p, end, &entry)) return false;
    const int key = keys_->find_padded(entry.key, entry.key_size);
    if (key < 0) continue;
    const auto value_size = static_cast<std::size_t>(entry.end - entry.value);
    if (value_size > std::numeric_limits<std::uint32_t>::max()) return false;
    // The last entry of a key counts because later ones overwrite.
    lists[static_cast<std::size_t>(key)] = {entry.value, static_cast<std::uint32_t>(value_size)};
  }
  return true;
}

Status SequenceReader::read_any_form(Bytes record, std::span<FeatureListView> lists) {
  entries_.clear();
  if (const char* reason = find_entries(record)) {
    std::string text = std::string("Invalid protocol message input: malformed record: ") + reason;
    if (looks_like_text(record)) text += " (the record looks like text)";
    return schema_mismatch(std::move(text));
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_.entry(i).data() == nullptr) continue;
    if (const char* reason = read_list(entries_.entry(i), &lists[i])) {
      return schema_mismatch(std::string("Invalid protocol message input: ") + reason, {.key = entries_.key(i)});
    }
  }
  return {};
}

const char* SequenceReader::find_entries(Bytes record) {
  FieldReader fields(record);
  WireField field;
  while (fields.next(&field)) {
    if (!field.is(kFeatureListsField, WireType::kBytes)) continue;
    if (!entries_.add(field.bytes)) return "its feature lists are damaged";
  }
  return fields.malformed() ? "not a tf.train.SequenceExample" : nullptr;
}

const char* SequenceReader::read_list(Bytes entry, FeatureListView* list) {
  pieces_.clear();
  std::size_t size = 0;
  (void)for_each_value_piece(entry, [&](Bytes piece) {
    pieces_.push_back(piece);
    size += piece.size();
    return static_cast<const char*>(nullptr);
  });
  if (size > std::numeric_limits<std::uint32_t>::max()) return "a feature list of 4 GiB or more";
  // An entry without a value is a list of no steps, which is there.
  *list = {pieces_.empty() ? entry.data() : pieces_[0].data(), static_cast<std::uint32_t>(size)};
  if (pieces_.size() < 2) return nullptr;  // whether it is whole is seen when it is walked
  if (!std::all_of(pieces_.begin(), pieces_.end(), is_message)) return "the feature list is damaged";
  merged_.push_back(std::make_unique<std::uint8_t[]>(size + kRecordPadding));
  std::uint8_t* out = merged_.back().get();
  list->data = out;
  for (const Bytes piece : pieces_) out = std::copy(piece.begin(), piece.end(), out);
  return nullptr;
}

std::vector<std::string> SequenceReader::list_keys(Bytes record, std::size_t limit) {
  return list_map_keys(record, kFeatureListsField, limit);
}

}  // namespace headrace

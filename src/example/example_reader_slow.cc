#include "example/example_reader_slow.h"

#include <algorithm>
#include <string>

namespace headrace {

Status SlowExampleReader::read(Bytes record, std::span<FeatureView> views) {
  saw_feature_lists_ = false;
  entries_.clear();
  std::fill(views.begin(), views.end(), FeatureView());
  if (const char* reason = find_entries(record)) {
    std::string text = std::string("Could not parse example input: malformed record: ") + reason;
    if (looks_like_text(record)) text += " (the record looks like text)";
    return schema_mismatch(std::move(text));
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_.entry(i).data() == nullptr) continue;
    if (const char* reason = read_entry(entries_.entry(i), &views[i])) {
      return schema_mismatch(std::string("Can't parse serialized Example: ") + reason, {.key = entries_.key(i)});
    }
  }
  return {};
}

const char* SlowExampleReader::find_entries(Bytes record) {
  FieldReader fields(record);
  WireField field;
  while (fields.next(&field)) {
    if (field.is(kFeaturesField, WireType::kBytes)) {
      if (!entries_.add(field.bytes)) return "its features are damaged";
    } else if (field.is(kFeatureListsField, WireType::kBytes)) {
      saw_feature_lists_ = true;
    }
  }
  return fields.malformed() ? "not a tf.train.Example" : nullptr;
}

const char* SlowExampleReader::read_entry(Bytes entry, FeatureView* view) {
  joiner_.clear();
  const char* reason = for_each_value_piece(entry, [this](Bytes piece) { return joiner_.add(piece); });
  if (reason != nullptr) return reason;
  if (joiner_.in_pieces()) merged_.push_back(std::make_unique<std::uint8_t[]>(joiner_.memory_bytes()));
  *view = joiner_.join(joiner_.in_pieces() ? merged_.back().get() : nullptr);
  return nullptr;
}

}  // namespace headrace

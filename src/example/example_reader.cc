#include "example/example_reader.h"

#include <algorithm>
#include <utility>

#include "example/example_entry.h"
#include "example/example_reader_slow.h"
#include "example/key_order.h"

namespace headrace {

struct ExampleReader::State {
  explicit State(std::shared_ptr<const KeySet> key_set)
      : keys(key_set), orders(key_set.get()), slow(std::move(key_set)) {}

  /// These give false when the record is not in the usual form; the views are undefined then.
  bool read_usual_form(std::span<const std::uint8_t> record, FeatureView* views);
  bool read_entries(const std::uint8_t* p, const std::uint8_t* end, FeatureView* views) const;
  bool read_expected_entries(const std::uint8_t* begin, const std::uint8_t* end, FeatureView* views);
  /// Reads the entry at `p` by look-up; its key's index, or -1.
  bool look_up_entry(const std::uint8_t* p, const std::uint8_t* end, FeatureView* views, ExampleEntry* entry,
                     int* key) const {
    if (!read_entry(p, end, entry)) return false;
    *key = keys->find_padded(entry->key, entry->key_size);
    return *key < 0 || read_value(entry->value, entry->end, &views[*key]);
  }

  const std::shared_ptr<const KeySet> keys;
  KeyOrders orders;
  SlowExampleReader slow;
  bool was_slow = false;
};

ExampleReader::ExampleReader(std::shared_ptr<const KeySet> keys) : state_(std::make_unique<State>(std::move(keys))) {}

ExampleReader::~ExampleReader() = default;

Status ExampleReader::read(std::span<const std::uint8_t> record, std::span<FeatureView> views) {
  std::fill(views.begin(), views.end(), FeatureView());
  state_->was_slow = !state_->read_usual_form(record, views.data());
  if (state_->was_slow) [[unlikely]]
    return state_->slow.read(record, views);
  return {};
}

std::vector<MergedList> ExampleReader::take_merged() { return state_->slow.take_merged(); }

bool ExampleReader::saw_feature_lists() const { return state_->was_slow && state_->slow.saw_feature_lists(); }

std::vector<std::string> ExampleReader::list_keys(std::span<const std::uint8_t> record, std::size_t limit) {
  return list_map_keys(record, kFeaturesField, limit);
}

bool ExampleReader::State::read_usual_form(std::span<const std::uint8_t> record, FeatureView* views) {
  const std::uint8_t* end = record.data() + record.size();
  std::uint64_t size = 0;
  const std::uint8_t* p = read_head(kEntryTag, record.data(), end, &size);
  if (p == nullptr || p + size != end) return false;
  return orders.begin_record() ? read_expected_entries(p, end, views) : read_entries(p, end, views);
}

// In both loops the last entry of a key counts because later ones overwrite.

bool ExampleReader::State::read_entries(const std::uint8_t* p, const std::uint8_t* end, FeatureView* views) const {
  ExampleEntry entry;
  int key = -1;
  for (; p != end; p = entry.end) {
    if (!look_up_entry(p, end, views, &entry, &key)) return false;
  }
  return true;
}

bool ExampleReader::State::read_expected_entries(const std::uint8_t* begin, const std::uint8_t* end,
                                                 FeatureView* views) {
  const ExpectedEntry* expected = orders.first();
  std::size_t entries = 0;
  for (const std::uint8_t* p = begin; p != end; ++entries) {
    // All sizes are one byte here, because the entry's is and the others add up to it.
    const std::uint8_t* value = p + expected->head_size;
    const std::uint32_t entry_size = p[1];
    const std::uint32_t value_size = value[0];
    const std::uint32_t list_size = value[2];
    const std::uint32_t unexpected = expected->mismatch(p) | (entry_size & 0x80) |
                                     (expected->head_size - 1 + value_size - entry_size) |
                                     (list_size + 2 - value_size) | (value[1] ^ std::uint32_t{expected->kind_tag});
    if (unexpected == 0 && static_cast<std::ptrdiff_t>(entry_size) + 2 <= end - p) [[likely]] {
      if (expected->key >= 0) views[expected->key] = {value + 3, list_size, static_cast<ListKind>(value[1] >> 3)};
      p = value + 1 + value_size;
      ++expected;
      continue;
    }
    ExampleEntry entry;
    int key = -1;
    if (!look_up_entry(p, end, views, &entry, &key)) return false;
    expected = orders.after(expected, key);
    p = entry.end;
  }
  orders.end_record(begin, end, entries);
  return true;
}

}  // namespace headrace

#include "example/example_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/wire.h"
#include "example/example_reader_slow.h"

namespace headrace {
namespace {

constexpr std::uint8_t kTag1 = 0x0A;  // field 1, length-delimited
constexpr std::uint8_t kTag2 = 0x12;

// An entry in the usual form: key, then value, nothing else; all lengths fit.
struct Entry {
  const std::uint8_t* key;
  std::size_t key_size;
  const std::uint8_t* value;
  const std::uint8_t* end;
};

// Reads a tag that must be `tag` and a length that must fit; null otherwise.
inline const std::uint8_t* read_head(std::uint8_t tag, const std::uint8_t* p, const std::uint8_t* end,
                                     std::uint64_t* size) {
  if (p == end || *p != tag) return nullptr;
  p = read_varint(p + 1, end, size);
  return p != nullptr && *size <= static_cast<std::uint64_t>(end - p) ? p : nullptr;
}

bool read_entry(const std::uint8_t* p, const std::uint8_t* end, Entry* entry) {
  std::uint64_t size = 0;
  p = read_head(kTag1, p, end, &size);
  if (p == nullptr) return false;
  entry->end = p + size;
  p = read_head(kTag1, p, entry->end, &size);
  if (p == nullptr) return false;
  entry->key = p;
  entry->key_size = static_cast<std::size_t>(size);
  p = read_head(kTag2, p + size, entry->end, &size);
  entry->value = p;
  return p != nullptr && p + size == entry->end;
}

// A Feature that is one list, or nothing.
bool read_value(const std::uint8_t* p, const std::uint8_t* end, FeatureView* view) {
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

}  // namespace

struct ExampleReader::State {
  explicit State(const std::shared_ptr<const KeySet>& key_set) : keys(key_set), slow(key_set) {}

  /// False: not in the usual form; the views are undefined then.
  bool read_usual_form(std::span<const std::uint8_t> record, std::span<FeatureView> views);

  const std::shared_ptr<const KeySet> keys;
  SlowExampleReader slow;
  bool was_slow = false;
};

ExampleReader::ExampleReader(std::shared_ptr<const KeySet> keys) : state_(std::make_unique<State>(keys)) {}

ExampleReader::~ExampleReader() = default;

Status ExampleReader::read(std::span<const std::uint8_t> record, std::span<FeatureView> views) {
  state_->was_slow = !state_->read_usual_form(record, views);
  if (state_->was_slow) [[unlikely]]
    return state_->slow.read(record, views);
  return {};
}

bool ExampleReader::saw_feature_lists() const { return state_->was_slow && state_->slow.saw_feature_lists(); }

std::vector<std::string> ExampleReader::list_keys(std::span<const std::uint8_t> record, std::size_t limit) {
  return list_example_keys(record, limit);
}

bool ExampleReader::State::read_usual_form(std::span<const std::uint8_t> record, std::span<FeatureView> views) {
  std::fill(views.begin(), views.end(), FeatureView());
  const std::uint8_t* end = record.data() + record.size();
  std::uint64_t size = 0;
  const std::uint8_t* p = read_head(kTag1, record.data(), end, &size);
  if (p == nullptr || p + size != end) return false;
  // The last entry of a key counts: later ones overwrite.
  Entry entry;
  for (; p != end; p = entry.end) {
    if (!read_entry(p, end, &entry)) return false;
    const int index = keys->find_padded(entry.key, entry.key_size);
    if (index >= 0 && !read_value(entry.value, entry.end, &views[static_cast<std::size_t>(index)])) return false;
  }
  return true;
}

}  // namespace headrace

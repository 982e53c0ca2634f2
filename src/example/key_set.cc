#include "example/key_set.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/random.h"

namespace headrace {
namespace {

// Trying costs time at construction: many tries for small sets, where no collision at all can be reached, few for others.
int multipliers_to_try(std::size_t keys) { return keys <= 128 ? 1000 : 16; }

}  // namespace

KeySet::KeySet(std::vector<std::string> keys) : keys_(std::move(keys)) {
  entries_.reserve(keys_.size());
  std::array<std::uint8_t, 8> padded;
  for (const std::string& key : keys_) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(key.data());
    if (key.size() < padded.size()) {
      padded = {};
      std::copy(key.begin(), key.end(), padded.begin());
      data = padded.data();
    }
    entries_.push_back({load_words(data, key.size()), key.size()});
  }
  const std::size_t slots = std::bit_ceil(4 * keys_.size() + 2);
  table_.resize(slots);
  shift_ = 64 - std::countr_zero(slots);

  std::size_t best_collisions = keys_.size() + 1;
  std::uint64_t best = 1;
  for (int i = 0; i < multipliers_to_try(keys_.size()) && best_collisions > 0; ++i) {
    multiplier_ = mix64(static_cast<std::uint64_t>(i) + 1) | 1;
    const std::size_t collisions = fill();
    if (collisions < best_collisions) {
      best_collisions = collisions;
      best = multiplier_;
    }
  }
  multiplier_ = best;
  fill();
}

int KeySet::find(std::string_view key) const {
  const auto* data = reinterpret_cast<const std::uint8_t*>(key.data());
  if (key.size() >= 8) return find_padded(data, key.size());
  std::array<std::uint8_t, 8> padded = {};
  std::copy(key.begin(), key.end(), padded.begin());
  return find_padded(padded.data(), key.size());
}

std::size_t KeySet::fill() {
  std::fill(table_.begin(), table_.end(), -1);
  std::size_t collisions = 0;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    std::size_t slot = slot_of(entries_[index].words, entries_[index].size);
    if (table_[slot] >= 0) ++collisions;
    while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::int32_t>(index);
  }
  return collisions;
}

}  // namespace headrace

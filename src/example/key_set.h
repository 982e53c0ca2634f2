// KeySet: the distinct wire keys that a schema asks for, found by a hash on (length, first and last 8 bytes).
//
// The multiplier is searched at construction so that small sets have no collisions; what collides anyway is probed. Every
// answer is checked against the whole key. Constant after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"

namespace headrace {

class KeySet {
 public:
  explicit KeySet(std::vector<std::string> keys);

  std::size_t size() const { return keys_.size(); }
  const std::string& key(std::size_t index) const { return keys_[index]; }

  /// Index of `key`, or -1.
  int find(std::string_view key) const;
  /// The same for a key inside a padded record: 8 bytes behind its start are readable.
  int find_padded(const std::uint8_t* key, std::size_t size) const {
    return find_words(load_words(key, size), key, size);
  }

 private:
  /// What the hash looks at. Up to 16 bytes of key these words and the size are the key.
  struct Words {
    std::uint64_t first;
    std::uint64_t last;
  };
  struct Entry {
    Words words;
    std::size_t size;
  };

  static Words load_words(const std::uint8_t* key, std::size_t size) {
    const bool is_short = size < 8;
    const std::uint64_t mask = is_short ? (std::uint64_t{1} << (8 * (size & 7))) - 1 : ~std::uint64_t{0};
    return {load_u64(key) & mask, load_u64(is_short ? key : key + size - 8) & mask};
  }
  std::size_t slot_of(Words words, std::size_t size) const {
    const std::uint64_t mixed = words.first + words.last * 0x9E3779B97F4A7C15ULL + size;
    return static_cast<std::size_t>((mixed * multiplier_) >> shift_);
  }
  int find_words(Words words, const std::uint8_t* key, std::size_t size) const {
    for (std::size_t slot = slot_of(words, size);; slot = (slot + 1) & (table_.size() - 1)) {
      const std::int32_t index = table_[slot];
      if (index < 0) return -1;
      const Entry& entry = entries_[static_cast<std::size_t>(index)];
      const bool same =
          ((entry.words.first ^ words.first) | (entry.words.last ^ words.last) | (entry.size ^ size)) == 0;
      if (same && (size <= 16 || std::memcmp(keys_[static_cast<std::size_t>(index)].data(), key, size) == 0)) {
        return index;
      }
    }
  }
  /// Fills the table for the present multiplier; the number of keys that are not in their own slot.
  std::size_t fill();

  std::vector<std::string> keys_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> table_;  ///< -1 = free; a power of two, never full
  std::uint64_t multiplier_ = 1;
  int shift_ = 0;
};

}  // namespace headrace

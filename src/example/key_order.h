// KeyOrders: what order the keys of the records have come in so far, so that the next one is compared and not looked up.
//
// Writers put the same keys in the same order into record after record, but not all do. Up to 8 orders are kept. A wrong
// guess costs one look-up and the guessing goes on behind the key that was found, in another order when that fits better.
// Records that no order fits are learned; when that keeps happening, guessing is off for a while. Only keys are guessed:
// every size is read from the record and checked.
// One object per thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "example/key_set.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#else
#include <cstring>
#endif

namespace headrace {

/// The bytes with which an entry is expected to begin: entry tag, its size (anything), key tag, key size, key, value tag.
/// Keys of more than 27 bytes do not fit; such an entry never matches and is looked up.
struct ExpectedEntry {
  static constexpr std::size_t kHeadBytes = 32;

  std::array<std::uint8_t, kHeadBytes> head = {};
  std::uint32_t ignored = 0;  ///< bit i: byte i may be anything
  std::uint32_t head_size = 0;
  std::int32_t key = -1;  ///< index in the KeySet; -1 = nobody asks for it, or the end of the order
  std::uint8_t kind_tag = 0;

  /// 0 when the head of the entry at `p` is the expected one. 32 bytes must be readable.
  std::uint32_t mismatch(const std::uint8_t* p) const {
#if defined(__SSE2__)
    const auto* expected = reinterpret_cast<const __m128i*>(head.data());
    const auto* found = reinterpret_cast<const __m128i*>(p);
    const int low = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(found), _mm_loadu_si128(expected)));
    const int high = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(found + 1), _mm_loadu_si128(expected + 1)));
    return ~(static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16 | ignored);
#else
    if (head_size == 0 || p[0] != head[0]) return 1;
    return std::memcmp(p + 2, head.data() + 2, head_size - 2) == 0 ? 0 : 1;
#endif
  }
};

class KeyOrders {
 public:
  explicit KeyOrders(const KeySet* keys);  ///< must outlive this

  /// Whether to guess in the next record; counts records while it is off.
  bool begin_record();
  /// What the first entry of a record is expected to be. Behind the last entry of an order lies one that never matches.
  const ExpectedEntry* first() const { return orders_[current_].entries.data(); }
  /// What to expect behind an entry with `key` (or -1) that did not match `expected`.
  const ExpectedEntry* after(const ExpectedEntry* expected, std::int32_t key);
  /// Call when all entries of [begin, end) were read.
  void end_record(const std::uint8_t* begin, const std::uint8_t* end, std::size_t entries);

 private:
  struct Order {
    std::vector<ExpectedEntry> entries;  ///< with the one that never matches at the end
    std::vector<std::int32_t> place;     ///< of each key of the set; -1 = not in this order
  };

  Order make_order(const std::uint8_t* begin, const std::uint8_t* end, std::size_t entries) const;

  const KeySet* const keys_;
  std::vector<Order> orders_;
  std::size_t current_ = 0;
  std::size_t oldest_ = 0;  ///< the order that is replaced next
  std::size_t misses_ = 0;  ///< of the present record
  int credit_;              ///< records that may still be learned before guessing is switched off
  int good_records_ = 0;    ///< since credit_ was raised
  int records_off_ = 0;     ///< records to read without guessing
};

}  // namespace headrace

// Vocabulary: the place of a string or a whole number in a list, found by hash. Constant after construction; any thread.
//
// One array of slots at most half full, probed one after another; a slot of a string keeps its fingerprint, so that
// another string is compared only when all 64 bits agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

class Vocabulary {
 public:
  explicit Vocabulary(std::span<const std::string> strings);
  explicit Vocabulary(std::span<const std::int64_t> integers);

  /// Place from 0, or -1. Each of the two is for a vocabulary of its kind.
  std::int64_t find(std::string_view text, std::uint64_t fingerprint) const;
  std::int64_t find(std::int64_t number) const;

  std::int64_t size() const { return size_; }
  /// Place of the first entry that is there before, or -1.
  std::int64_t repeated() const { return repeated_; }

 private:
  struct Slot {
    std::uint64_t word = 0;   // fingerprint, or the number itself
    std::int64_t place = -1;  // -1: free
  };
  void reserve(std::size_t entries);
  template <class Same>
  std::size_t probe(std::uint64_t hash, Same same) const;

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::int64_t size_ = 0;
  std::int64_t repeated_ = -1;
  std::string text_;                  // all strings, one after another
  std::vector<std::uint64_t> begin_;  // of each in text_, and the end
};

}  // namespace headrace

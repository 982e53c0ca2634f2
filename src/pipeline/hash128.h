// Hash128: what tells data sets, and what is made of them, apart. Saved positions and cache files depend on the values.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace headrace {

/// Two independent 64-bit chains over the same words.
class Hash128 {
 public:
  void add(std::uint64_t word) {
    low_ = mix64(low_ ^ word);
    high_ = mix64(high_ + word * 0x9E3779B97F4A7C15ULL);
  }
  void add(const std::string& text) {
    add(text.size());
    for (const char c : text) add(static_cast<std::uint8_t>(c));
  }
  std::string hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {high_, low_}) {
      for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
    }
    return text;
  }

 private:
  std::uint64_t low_ = 1;
  std::uint64_t high_ = 2;
};

}  // namespace headrace

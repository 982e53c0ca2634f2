// Varints in files and states of our own: written to the end of a vector, read one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/wire.h"

namespace headrace {

inline void put_varint(std::uint64_t value, std::vector<std::uint8_t>* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<std::uint8_t>(value | 0x80));
  out->push_back(static_cast<std::uint8_t>(value));
}

/// Small numbers of either sign become small varints: 0, -1, 1, -2 are 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

/// Reads what was put. Once something is missing or fail() was called, everything is 0 or empty and ok() false.
class VarintReader {
 public:
  /// `bytes` must outlive the reader and what take() gives.
  explicit VarintReader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  std::uint64_t get() {
    std::uint64_t value = 0;
    const std::uint8_t* next = ok_ ? read_varint(left_.data(), left_.data() + left_.size(), &value) : nullptr;
    if (next == nullptr) return fail();
    left_ = left_.subspan(static_cast<std::size_t>(next - left_.data()));
    return value;
  }
  /// A count of things that take at least `bytes_each` bytes each; more than there can be is not ok.
  std::size_t count(std::size_t bytes_each = 1) {
    const std::uint64_t value = get();
    return static_cast<std::size_t>(value <= left_.size() / bytes_each ? value : fail());
  }
  std::span<const std::uint8_t> take(std::size_t bytes) {
    if (!ok_ || bytes > left_.size()) fail();
    if (!ok_) return {};
    const std::span<const std::uint8_t> taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  /// What was read makes no sense.
  std::uint64_t fail() {
    ok_ = false;
    return 0;
  }
  std::size_t left() const { return left_.size(); }
  bool ok() const { return ok_; }

 private:
  std::span<const std::uint8_t> left_;
  bool ok_ = true;
};

}  // namespace headrace

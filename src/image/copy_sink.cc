#include "image/copy_sink.h"

#include <algorithm>
#include <cstring>

namespace headrace {

void CopySink::prepare(std::int64_t left, bool flip, std::uint8_t* slot) {
  slot_ = slot;
  left_ = left;
  flip_ = flip;
  next_row_ = 0;
}

void CopySink::begin(std::int64_t left, std::int64_t width) {
  is_direct_ = !flip_ && left == left_ && width == size_.width && writer_.direct(slot_, 0) != nullptr;
  offset_ = (left_ - left) * size_.channels;
  row_.resize(std::max(row_.size(), static_cast<std::size_t>(width * size_.channels)));
}

std::uint8_t* CopySink::row() { return is_direct_ ? writer_.direct(slot_, next_row_) : row_.data(); }

void CopySink::row_done() {
  const std::int64_t y = next_row_++;
  if (is_direct_) return;
  const std::uint8_t* row = row_.data() + offset_;
  if (flip_) {
    turn_around(row);
    row = turned_.data();
  }
  writer_.write(slot_, y, row);
}

void CopySink::turn_around(const std::uint8_t* row) {
  const auto channels = static_cast<std::size_t>(size_.channels);
  const auto width = static_cast<std::size_t>(size_.width);
  turned_.resize(width * channels);
  for (std::size_t x = 0; x < width; ++x) {
    std::memcpy(turned_.data() + (width - 1 - x) * channels, row + x * channels, channels);
  }
}

}  // namespace headrace

// RowWriter: one row of pixels, as bytes or as floats, to its place in a column: dtype, layout, mean and std.
//
// Set up once for a column; write() may be called for any row of any slot.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/image.h"

namespace headrace {

class RowWriter {
 public:
  RowWriter(const ImageOptions& options, DType dtype, const ImageSize& size);

  /// Pixels are rounded to uint8, or become (pixel - mean) / std. `row` holds width * channels of them, within [0, 255].
  void write(std::uint8_t* slot, std::int64_t y, const float* row) const;
  void write(std::uint8_t* slot, std::int64_t y, const std::uint8_t* row) const;

  bool is_float() const { return is_float_; }
  /// Where row `y` of the slot lies when it is the decoder's row as it is, else null.
  std::uint8_t* direct(std::uint8_t* slot, std::int64_t y) const {
    return is_direct_ ? slot + static_cast<std::size_t>(y * size_.width * size_.channels) : nullptr;
  }

 private:
  template <class From>
  void write_row(std::uint8_t* slot, std::int64_t y, const From* row) const;

  const ImageSize size_;
  const bool is_float_;
  const bool is_planar_;
  const bool is_direct_;
  std::vector<float> mean_;     // by element of a row, so that one loop does them all
  std::vector<float> inverse_;  // 1 / std
};

}  // namespace headrace

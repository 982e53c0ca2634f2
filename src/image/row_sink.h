// RowSink: where a decoder writes the rows of an image, from top to bottom, and what it tells of them first.
#pragma once

#include <cstdint>

namespace headrace {

/// The rectangle of pixels that a decoder is asked for, in the pixels of the image as it is decoded.
struct PixelRange {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t bottom = 0;  ///< behind the last row
  std::int64_t right = 0;   ///< behind the last column
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Once, before the first row: a row holds the columns [left, left + width) of the image, a superset of those asked for.
  virtual void begin(std::int64_t left, std::int64_t width) = 0;
  /// Memory for the next row, `width` pixels of the channels asked for.
  virtual std::uint8_t* row() = 0;
  /// The memory of the last row() holds it.
  virtual void row_done() = 0;
};

}  // namespace headrace

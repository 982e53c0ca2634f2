// PngDecoder: PNG files to rows of pixels of 8 bits, by libpng, with the conversions of tf.io.decode_png. Keeps the memory
// of one file for the next.
//
// One thread at a time. decode() is the outcome of one file and leaves the decoder ready for the next, whatever happened.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/status.h"
#include "image/image_header.h"
#include "image/row_sink.h"

namespace headrace {

class PngDecoder {
 public:
  /// Decodes the rows [range.top, range.bottom), whole ones. What comes behind them is not looked at, unless that is
  /// nothing but the end of the file, or the file is interlaced. `channels` is 1, 3 or 4:
  /// gray of colours is 0.299 R + 0.587 G + 0.114 B, alpha is dropped or, where there is none, opaque; of 16 bits the upper
  /// 8. kSchemaMismatch when the file is damaged or ends too early.
  Status decode(std::span<const std::uint8_t> file, const ImageHeader& header, int channels, const PixelRange& range,
                RowSink& sink);

 private:
  std::vector<std::uint8_t> rows_;           // rows that are not asked for; all rows of an interlaced file
  std::vector<std::uint8_t*> row_pointers_;  // of an interlaced file
};

}  // namespace headrace

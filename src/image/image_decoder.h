// ImageDecoder: the bytes of one image file become the pixels of one slot: header, limits, crop window, reduction, decode,
// resize, flip and conversion in one pass over the rows.
//
// One per thread and column; keeps its memory from image to image. One thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/image.h"
#include "image/copy_sink.h"
#include "image/crop_window.h"
#include "image/jpeg_decoder.h"
#include "image/png_decoder.h"
#include "image/resize_sink.h"
#include "image/row_writer.h"

namespace headrace {

class ImageDecoder {
 public:
  /// `options` are valid for `dtype` and `shape`.
  ImageDecoder(const ImageOptions& options, DType dtype, const Shape& shape);
  ImageDecoder(const ImageDecoder&) = delete;
  ImageDecoder& operator=(const ImageDecoder&) = delete;

  /// Writes exactly the pixels of one record at `slot`, or fails: kSchemaMismatch when the file is no image that fits,
  /// kResourceExhausted when it exceeds a limit; expected and found are in the where, never the file's bytes. `record_key`:
  /// the record's random number.
  Status decode(std::span<const std::uint8_t> file, std::uint64_t record_key, std::uint8_t* slot);

 private:
  struct Plan {
    ImageHeader header;
    int reduction = 1;
    PixelRange range;
  };

  Status decode_rows(std::span<const std::uint8_t> file, const Plan& plan, RowSink& sink);

  const ImageOptions options_;
  const ImageSize size_;
  const RowWriter writer_;
  JpegDecoder jpeg_;
  PngDecoder png_;
  CopySink copy_;
  ResizeSink resize_;
};

}  // namespace headrace

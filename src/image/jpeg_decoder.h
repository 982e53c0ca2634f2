// JpegDecoder: JPEG files to rows of pixels, by libjpeg-turbo. Keeps one decompressor and its memory from file to file.
//
// One thread at a time. decode() is the outcome of one file and leaves the decoder ready for the next, whatever happened.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "headrace/image.h"
#include "image/image_header.h"
#include "image/row_sink.h"

namespace headrace {

struct JpegRequest {
  int channels = 3;                     ///< 1 or 3
  int reduction = 1;                    ///< 1, 2, 4 or 8: the image is decoded to that part of its size, rounded up
  JpegDct dct = JpegDct::kIntegerFast;  ///< with smooth chroma upsampling, as TensorFlow
  PixelRange range;                     ///< in pixels of the reduced image; not empty
};

class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Decodes the rows of request.range. What comes behind the last of them is not looked at, unless that is the image's last:
  /// then the file must end as a JPEG does. kSchemaMismatch when the file is
  /// damaged or ends too early; kResourceExhausted when it has too many scans.
  Status decode(std::span<const std::uint8_t> file, const ImageHeader& header, const JpegRequest& request,
                RowSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace

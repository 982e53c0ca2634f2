// ResizeSink: takes the rows of a window as they are decoded and writes each output row when its last source row is there.
// Only the rows that the next outputs need are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "image/byte_resize.h"
#include "image/row_sink.h"
#include "image/row_writer.h"
#include "image/taps.h"

namespace headrace {

/// What to make of which pixels; all in pixels of the image as it is decoded.
struct ResizeJob {
  double top = 0;  ///< the window, where its edges are
  double left = 0;
  double bottom = 0;
  double right = 0;
  PixelRange range;  ///< the pixels that it touches
  bool antialias = false;
  bool flip = false;
};

class ResizeSink final : public RowSink {
 public:
  /// `writer` outlives it.
  ResizeSink(const RowWriter& writer, const ImageSize& size) : writer_(writer), size_(size) {}

  /// Before each image: the next rows make the pixels at `slot`.
  void prepare(const ResizeJob& job, std::uint8_t* slot);

  void begin(std::int64_t left, std::int64_t width) override;
  std::uint8_t* row() override { return ring_row(next_row_); }
  void row_done() override;

 private:
  // libjpeg-turbo writes rows that are aligned to 16 or 32 bytes past the cache, where they would be read back from memory:
  // these begin at 8.
  static constexpr std::int64_t kOffAlignment = 8;

  std::uint8_t* ring_row(std::int64_t y) { return ring_.data() + kOffAlignment + (y % ring_rows_) * row_bytes_; }
  void write_floats(std::int64_t y);
  void write_bytes(std::int64_t y);

  const RowWriter& writer_;
  const ImageSize size_;

  std::uint8_t* slot_ = nullptr;
  Taps rows_;
  Taps columns_;
  PixelRange range_;
  std::int64_t next_row_ = 0;     // of the source
  std::int64_t next_output_ = 0;  // row
  std::int64_t offset_ = 0;       // bytes in a decoded row before the window
  std::int64_t row_bytes_ = 0;
  std::int64_t ring_rows_ = 1;
  std::vector<std::uint8_t> ring_;
  bool is_bytes_ = false;  // two taps, to uint8: byte_resize.h
  std::vector<const std::uint8_t*> sources_;
  std::vector<float> blended_;
  std::vector<float> output_;
  std::vector<std::int32_t> byte_first_;
  std::vector<ByteWeights> byte_weights_;
  std::vector<std::int16_t> byte_blended_;
  std::vector<std::uint8_t> byte_output_;
};

}  // namespace headrace

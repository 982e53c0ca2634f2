// CopySink: rows of a window that has the size of the column already: decoded at their place where they can be, else
// copied, turned around or converted there.
#pragma once

#include <cstdint>
#include <vector>

#include "image/row_sink.h"
#include "image/row_writer.h"

namespace headrace {

class CopySink final : public RowSink {
 public:
  /// `writer` outlives it.
  CopySink(const RowWriter& writer, const ImageSize& size) : writer_(writer), size_(size) {}

  /// Before each image: its columns from `left` on become the pixels at `slot`.
  void prepare(std::int64_t left, bool flip, std::uint8_t* slot);

  void begin(std::int64_t left, std::int64_t width) override;
  std::uint8_t* row() override;
  void row_done() override;

 private:
  void turn_around(const std::uint8_t* row);

  const RowWriter& writer_;
  const ImageSize size_;

  std::uint8_t* slot_ = nullptr;
  std::int64_t left_ = 0;
  bool flip_ = false;
  bool is_direct_ = false;
  std::int64_t next_row_ = 0;
  std::int64_t offset_ = 0;
  std::vector<std::uint8_t> row_;
  std::vector<std::uint8_t> turned_;
};

}  // namespace headrace

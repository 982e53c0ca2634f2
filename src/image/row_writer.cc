#include "image/row_writer.h"

#include <cstring>

namespace headrace {
namespace {

inline std::uint8_t to_byte(std::uint8_t value) { return value; }
inline std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(static_cast<std::int32_t>(value + 0.5F)); }

float constant(const std::vector<float>& values, std::size_t channel, float none) {
  if (values.empty()) return none;
  return values.size() == 1 ? values[0] : values[channel];
}

}  // namespace

RowWriter::RowWriter(const ImageOptions& options, DType dtype, const ImageSize& size)
    : size_(size),
      is_float_(dtype == DType::kFloat32),
      is_planar_(options.layout == ImageLayout::kNchw && size.channels > 1),
      is_direct_(!is_float_ && !is_planar_) {
  if (!is_float_) return;
  const auto channels = static_cast<std::size_t>(size.channels);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size.width) * channels; ++i) {
    mean_.push_back(constant(options.mean, i % channels, 0));
    inverse_.push_back(1 / constant(options.std, i % channels, 1));
  }
}

template <class From>
void RowWriter::write_row(std::uint8_t* slot, std::int64_t y, const From* row) const {
  const std::int64_t elements = size_.width * size_.channels;
  if (!is_planar_ && is_float_) {
    float* to = reinterpret_cast<float*>(slot) + y * elements;
    for (std::int64_t i = 0; i < elements; ++i) to[i] = (static_cast<float>(row[i]) - mean_[i]) * inverse_[i];
    return;
  }
  if (!is_planar_) {
    std::uint8_t* to = slot + y * elements;
    for (std::int64_t i = 0; i < elements; ++i) to[i] = to_byte(row[i]);
    return;
  }
  for (std::int64_t c = 0; c < size_.channels; ++c) {
    const std::int64_t begin = (c * size_.height + y) * size_.width;
    const From* from = row + c;
    if (is_float_) {
      float* to = reinterpret_cast<float*>(slot) + begin;
      for (std::int64_t x = 0; x < size_.width; ++x, from += size_.channels) {
        to[x] = (static_cast<float>(*from) - mean_[c]) * inverse_[c];
      }
    } else {
      for (std::int64_t x = 0; x < size_.width; ++x, from += size_.channels) slot[begin + x] = to_byte(*from);
    }
  }
}

void RowWriter::write(std::uint8_t* slot, std::int64_t y, const float* row) const { write_row(slot, y, row); }
void RowWriter::write(std::uint8_t* slot, std::int64_t y, const std::uint8_t* row) const { write_row(slot, y, row); }

}  // namespace headrace

#include "image/resize_sink.h"

#include <algorithm>

#include "image/resize_kernels.h"

namespace headrace {
namespace {

// Rows of bytes are blended up to a multiple of that: what stands behind a row costs less than a loop for its rest.
constexpr std::int64_t kByteStep = 32;

std::int64_t whole_steps(std::int64_t elements) { return (elements + kByteStep - 1) / kByteStep * kByteStep; }

template <class T>
void grow(std::vector<T>* memory, std::int64_t count) {
  if (static_cast<std::int64_t>(memory->size()) < count) memory->resize(static_cast<std::size_t>(count));
}

}  // namespace

void ResizeSink::prepare(const ResizeJob& job, std::uint8_t* slot) {
  slot_ = slot;
  range_ = job.range;
  rows_.set({job.top, job.bottom, job.range.top, job.range.bottom}, size_.height, job.antialias);
  columns_.set({job.left, job.right, job.range.left, job.range.right}, size_.width, job.antialias);
  if (job.flip) columns_.reverse();
  // The blended row begins at the window.
  for (std::int64_t& first : columns_.first) first -= job.range.left;
  next_row_ = job.range.top;
  next_output_ = 0;
  is_bytes_ = !writer_.is_float() && rows_.count == 2 && columns_.count == 2;
}

void ResizeSink::begin(std::int64_t left, std::int64_t width) {
  offset_ = (range_.left - left) * size_.channels;
  row_bytes_ = whole_steps(width * size_.channels);
  ring_rows_ = rows_.count + 1;
  grow(&ring_, kOffAlignment + ring_rows_ * row_bytes_ + kByteStep);
  const std::int64_t elements = (range_.right - range_.left) * size_.channels;
  if (!is_bytes_) {
    grow(&sources_, rows_.count);
    grow(&blended_, elements + kRowPadding);
    grow(&output_, size_.width * size_.channels + kRowPadding);
    return;
  }
  grow(&byte_blended_, whole_steps(elements) + kBytePadding);
  grow(&byte_output_, size_.width * size_.channels);
  byte_first_.clear();
  byte_weights_.clear();
  for (std::int64_t x = 0; x < size_.width; ++x) {
    byte_first_.push_back(static_cast<std::int32_t>(columns_.first[static_cast<std::size_t>(x)] * size_.channels));
    byte_weights_.emplace_back(columns_.weights_of(x)[1]);
  }
}

void ResizeSink::row_done() {
  ++next_row_;
  while (next_output_ < size_.height &&
         rows_.first[static_cast<std::size_t>(next_output_)] + rows_.count <= next_row_) {
    const std::int64_t y = next_output_++;
    is_bytes_ ? write_bytes(y) : write_floats(y);
  }
}

void ResizeSink::write_floats(std::int64_t y) {
  const ResizeKernels& kernels = resize_kernels();
  const std::int64_t first = rows_.first[static_cast<std::size_t>(y)];
  for (std::int64_t k = 0; k < rows_.count; ++k) {
    sources_[static_cast<std::size_t>(k)] = ring_row(first + k) + offset_;
  }
  kernels.blend_rows(sources_.data(), rows_.weights_of(y), rows_.count, (range_.right - range_.left) * size_.channels,
                     blended_.data());
  kernels.blend_columns(blended_.data(), columns_.first.data(), columns_.weights.data(), columns_.count, size_.width,
                        size_.channels, output_.data());
  writer_.write(slot_, y, output_.data());
}

void ResizeSink::write_bytes(std::int64_t y) {
  const std::int64_t first = rows_.first[static_cast<std::size_t>(y)];
  blend_byte_rows(ring_row(first) + offset_, ring_row(first + 1) + offset_, rows_.weights_of(y)[1],
                  whole_steps((range_.right - range_.left) * size_.channels), byte_blended_.data());
  std::uint8_t* direct = writer_.direct(slot_, y);
  std::uint8_t* to = direct != nullptr ? direct : byte_output_.data();
  blend_byte_columns({byte_blended_.data(), byte_first_.data(), byte_weights_.data(), size_.width, size_.channels}, to);
  if (direct == nullptr) writer_.write(slot_, y, to);
}

}  // namespace headrace

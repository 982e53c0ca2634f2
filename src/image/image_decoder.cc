#include "image/image_decoder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/random.h"

namespace headrace {
namespace {

std::string size_text(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width) + " pixels";
}

// The window in pixels of the reduced image, where its edges are and which pixels it touches.
ResizeJob reduced_window(const CropWindow& window, const ImageHeader& header, int reduction) {
  const auto divide = [reduction](std::int64_t at) { return static_cast<double>(at) / reduction; };
  const auto reduced = [reduction](std::int64_t side) { return (side + reduction - 1) / reduction; };
  const auto behind = [&](double edge, std::int64_t side) {
    return std::min(static_cast<std::int64_t>(std::ceil(edge)), reduced(side));
  };
  ResizeJob job;
  job.top = divide(window.top);
  job.left = divide(window.left);
  job.bottom = divide(window.top + window.height);
  job.right = divide(window.left + window.width);
  job.range = {static_cast<std::int64_t>(job.top), static_cast<std::int64_t>(job.left),
               behind(job.bottom, header.height), behind(job.right, header.width)};
  return job;
}

}  // namespace

ImageDecoder::ImageDecoder(const ImageOptions& options, DType dtype, const Shape& shape)
    : options_(options),
      size_(image_size(shape, options.layout)),
      writer_(options, dtype, size_),
      copy_(writer_, size_),
      resize_(writer_, size_) {}

Status ImageDecoder::decode(std::span<const std::uint8_t> file, std::uint64_t record_key, std::uint8_t* slot) {
  Plan plan;
  HEADRACE_ASSIGN_OR_RETURN(plan.header, read_image_header(file));
  HEADRACE_RETURN_IF_ERROR(check_image_size(plan.header, file.size(), options_.max_pixels));
  const std::uint64_t key = random_key(record_key, options_.seed);
  HEADRACE_ASSIGN_OR_RETURN(const CropWindow window,
                            choose_window(options_.crop, plan.header.height, plan.header.width, key));
  const bool has_size = window.height == size_.height && window.width == size_.width;
  if (options_.resize == ImageResize::kNone && !has_size) {
    Where where;
    where.expected = size_text(size_.height, size_.width);
    where.found = size_text(window.height, window.width);
    return schema_mismatch("the image, after its crop, has another size than the column and resize is None",
                           std::move(where));
  }
  const bool flip = flips(options_, key);
  const bool may_reduce = options_.reduce && plan.header.format == ImageFormat::kJpeg;
  plan.reduction = may_reduce ? dct_reduction(window, size_) : 1;
  ResizeJob job = reduced_window(window, plan.header, plan.reduction);
  plan.range = job.range;
  if (has_size) {
    copy_.prepare(job.range.left, flip, slot);
    return decode_rows(file, plan, copy_);
  }
  job.antialias = options_.resize == ImageResize::kAntialias;
  job.flip = flip;
  resize_.prepare(job, slot);
  return decode_rows(file, plan, resize_);
}

Status ImageDecoder::decode_rows(std::span<const std::uint8_t> file, const Plan& plan, RowSink& sink) {
  const auto channels = static_cast<int>(size_.channels);
  if (plan.header.format == ImageFormat::kPng) return png_.decode(file, plan.header, channels, plan.range, sink);
  if (channels == 4) {
    Where where;
    where.expected = "a PNG, which may have 4 channels";
    where.found = "a JPEG";
    return schema_mismatch("a JPEG has no alpha: channels must be 1 or 3", std::move(where));
  }
  return jpeg_.decode(file, plan.header, {channels, plan.reduction, options_.dct, plan.range}, sink);
}

}  // namespace headrace

#include <algorithm>
#include <cmath>
#include <string>

#include "headrace/image.h"
#include "image/image_header.h"

namespace headrace {
namespace {

constexpr std::int64_t kMaxSide = 65'535;         // what JPEG can have
constexpr std::int64_t kMaxPlace = 0x7FFFFFFFLL;  // what PNG can have

std::string text(double value) {
  std::string out = std::to_string(value);
  out.erase(out.find_last_not_of('0') + 1);
  return out.back() == '.' ? out + "0" : out;
}

Status check_crop(const CentralCrop& crop) {
  if (crop.fraction > 0 && crop.fraction <= 1) return {};
  return invalid_argument("crop: fraction " + text(crop.fraction) + " is not in (0, 1]");
}

Status check_crop(const FixedCrop& crop) {
  if (crop.top < 0 || crop.left < 0) return invalid_argument("crop: top and left must be at least 0");
  if (crop.height < 1 || crop.width < 1) return invalid_argument("crop: height and width must be at least 1");
  if (std::max({crop.top, crop.left, crop.height, crop.width}) > kMaxPlace) {
    return invalid_argument("crop: no image has a pixel beyond " + std::to_string(kMaxPlace));
  }
  return {};
}

Status check_crop(const RandomCrop& crop) {
  if (crop.height < 1 || crop.width < 1) return invalid_argument("crop: height and width must be at least 1");
  return {};
}

Status check_crop(const RandomResizedCrop& crop) {
  if (!(crop.min_area > 0 && crop.min_area <= crop.max_area && crop.max_area <= 1)) {
    return invalid_argument("crop: area [" + text(crop.min_area) + ", " + text(crop.max_area) +
                            "] is no range in (0, 1]");
  }
  if (!(crop.min_ratio > 0 && crop.min_ratio <= crop.max_ratio && std::isfinite(crop.max_ratio))) {
    return invalid_argument("crop: ratio [" + text(crop.min_ratio) + ", " + text(crop.max_ratio) +
                            "] is no range above 0");
  }
  return {};
}

Status check_crop(std::monostate) { return {}; }

Status check_constants(const std::string& name, const std::vector<float>& values, DType dtype, std::int64_t channels) {
  if (values.empty()) return {};
  if (dtype != DType::kFloat32) return invalid_argument(name + " is for dtype float32 only");
  if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != channels) {
    return invalid_argument(name + " has " + std::to_string(values.size()) + " numbers, expected 1 or " +
                            std::to_string(channels));
  }
  const bool finite = std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  return finite ? Status() : invalid_argument(name + " must be finite");
}

}  // namespace

ImageSize image_size(const Shape& shape, ImageLayout layout) {
  if (layout == ImageLayout::kNchw) return {shape[1], shape[2], shape[0]};
  return {shape[0], shape[1], shape[2]};
}

bool ImageOptions::draws() const {
  return random_flip || std::holds_alternative<RandomCrop>(crop) || std::holds_alternative<RandomResizedCrop>(crop);
}

Status ImageOptions::validate(DType dtype, const Shape& shape) const {
  if (dtype != DType::kUint8 && dtype != DType::kFloat32) {
    return invalid_argument("dtype " + std::string(to_string(dtype)) + " of an image: must be uint8 or float32");
  }
  if (layout != ImageLayout::kNhwc && layout != ImageLayout::kNchw) return invalid_argument("unknown layout");
  if (resize < ImageResize::kNone || resize > ImageResize::kAntialias) return invalid_argument("unknown resize");
  if (dct != JpegDct::kIntegerFast && dct != JpegDct::kIntegerAccurate) return invalid_argument("unknown dct_method");
  if (shape.size() != 3) return invalid_argument("an image has height, width and channels");
  const ImageSize size = image_size(shape, layout);
  if (size.height < 1 || size.height > kMaxSide || size.width < 1 || size.width > kMaxSide) {
    return invalid_argument("height and width must be in [1, " + std::to_string(kMaxSide) + "], found " +
                            std::to_string(size.height) + " and " + std::to_string(size.width));
  }
  if (size.channels != 1 && size.channels != 3 && size.channels != 4) {
    return invalid_argument("channels must be 1, 3 or 4, found " + std::to_string(size.channels));
  }
  if (max_pixels < 1 || max_pixels > kMostPixels) {
    return invalid_argument("max_pixels must be in [1, " + std::to_string(kMostPixels) + "], found " +
                            std::to_string(max_pixels));
  }
  HEADRACE_RETURN_IF_ERROR(check_constants("mean", mean, dtype, size.channels));
  HEADRACE_RETURN_IF_ERROR(check_constants("std", std, dtype, size.channels));
  if (std::any_of(std.begin(), std.end(), [](float value) { return value <= 0; })) {
    return invalid_argument("std must be above 0");
  }
  return std::visit([](const auto& kind) { return check_crop(kind); }, crop);
}

}  // namespace headrace

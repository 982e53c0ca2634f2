#include "image/crop_window.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/random.h"

namespace headrace {
namespace {

constexpr int kDraws = 10;  // of a RandomResizedCrop, as torchvision has it

std::string size_text(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width);
}

Status not_inside(std::int64_t height, std::int64_t width, std::string expected) {
  Where where;
  where.expected = std::move(expected);
  where.found = size_text(height, width) + " pixels";
  return schema_mismatch("the crop window is not in the image of " + where.found, std::move(where));
}

/// In [0, 1), of 53 bits.
double uniform(std::uint64_t key, std::uint64_t counter) {
  return static_cast<double>(random_u64(key, counter) >> 11) * 0x1p-53;
}

std::int64_t place(std::uint64_t key, std::uint64_t counter, std::int64_t room) {
  return static_cast<std::int64_t>(random_below(key, counter, static_cast<std::uint64_t>(room) + 1));
}

struct Chooser {
  std::int64_t height;
  std::int64_t width;
  std::uint64_t key;

  Result<CropWindow> operator()(std::monostate) const { return CropWindow{0, 0, height, width}; }

  Result<CropWindow> operator()(const CentralCrop& crop) const {
    if (crop.square) {
      const auto part = crop.fraction * static_cast<double>(std::min(height, width));
      const std::int64_t side = std::max<std::int64_t>(1, static_cast<std::int64_t>(part));
      return CropWindow{(height - side + 1) / 2, (width - side + 1) / 2, side, side};
    }
    const std::int64_t top = margin(height, crop.fraction);
    const std::int64_t left = margin(width, crop.fraction);
    return CropWindow{top, left, height - 2 * top, width - 2 * left};
  }

  Result<CropWindow> operator()(const FixedCrop& crop) const {
    if (crop.top > height - crop.height || crop.left > width - crop.width) {
      return not_inside(height, width,
                        "at least " + size_text(crop.top + crop.height, crop.left + crop.width) + " pixels");
    }
    return CropWindow{crop.top, crop.left, crop.height, crop.width};
  }

  Result<CropWindow> operator()(const RandomCrop& crop) const {
    if (crop.height > height || crop.width > width) {
      return not_inside(height, width, "at least " + size_text(crop.height, crop.width) + " pixels");
    }
    return CropWindow{place(key, 0, height - crop.height), place(key, 1, width - crop.width), crop.height, crop.width};
  }

  Result<CropWindow> operator()(const RandomResizedCrop& crop) const {
    const double pixels = static_cast<double>(height) * static_cast<double>(width);
    const double low = std::log(crop.min_ratio);
    const double span = std::log(crop.max_ratio) - low;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const double part = crop.min_area + (crop.max_area - crop.min_area) * uniform(key, 4 * draw);
      const double ratio = std::exp(low + span * uniform(key, 4 * draw + 1));
      const auto w = static_cast<std::int64_t>(std::llround(std::sqrt(pixels * part * ratio)));
      const auto h = static_cast<std::int64_t>(std::llround(std::sqrt(pixels * part / ratio)));
      if (w < 1 || w > width || h < 1 || h > height) continue;
      return CropWindow{place(key, 4 * draw + 2, height - h), place(key, 4 * draw + 3, width - w), h, w};
    }
    return middle_at_ratio(crop);
  }

 private:
  // Pixels left out at both ends, as tf.image.central_crop rounds them.
  static std::int64_t margin(std::int64_t side, double fraction) {
    const auto whole = static_cast<double>(side);
    const auto left_out = static_cast<std::int64_t>((whole - whole * fraction) / 2);
    return std::min(left_out, (side - 1) / 2);
  }

  Result<CropWindow> middle_at_ratio(const RandomResizedCrop& crop) const {
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    std::int64_t h = height;
    std::int64_t w = width;
    if (ratio < crop.min_ratio) h = std::llround(static_cast<double>(width) / crop.min_ratio);
    if (ratio > crop.max_ratio) w = std::llround(static_cast<double>(height) * crop.max_ratio);
    h = std::clamp<std::int64_t>(h, 1, height);
    w = std::clamp<std::int64_t>(w, 1, width);
    return CropWindow{(height - h) / 2, (width - w) / 2, h, w};
  }
};

}  // namespace

Result<CropWindow> choose_window(const ImageCrop& crop, std::int64_t height, std::int64_t width, std::uint64_t key) {
  return std::visit(Chooser{height, width, key}, crop);
}

bool flips(const ImageOptions& options, std::uint64_t key) {
  return options.random_flip && (random_u64(key, kFlipCounter) >> 63) != 0;
}

int dct_reduction(const CropWindow& window, const ImageSize& size) {
  int times = 8;
  while (times > 1 && (window.height < times * size.height || window.width < times * size.width)) times /= 2;
  return times;
}

}  // namespace headrace

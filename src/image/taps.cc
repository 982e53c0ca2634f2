#include "image/taps.h"

#include <algorithm>
#include <cmath>

namespace headrace {

void Taps::set(const SourceAxis& axis, std::int64_t outputs, bool antialias) {
  const auto scale = static_cast<float>((axis.end - axis.begin) / static_cast<double>(outputs));
  const std::int64_t pixels = axis.high - axis.low;
  // A triangle reaches `scale` to both sides.
  const std::int64_t reach = antialias && scale > 1 ? 2 * static_cast<std::int64_t>(std::ceil(scale)) + 1 : 2;
  count = std::min(reach, pixels);
  first.resize(static_cast<std::size_t>(outputs));
  weights.assign(static_cast<std::size_t>(outputs * count), 0.0F);
  if (reach == 2) {
    set_bilinear(axis, scale);
  } else {
    set_antialias(axis, scale);
  }
}

// In single precision, as TensorFlow, so that the weights are the same.
void Taps::set_bilinear(const SourceAxis& axis, float scale) {
  const double base = std::floor(axis.begin);
  const auto shift = static_cast<float>(axis.begin - base);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float at = (static_cast<float>(i) + 0.5F) * scale - 0.5F + shift;
    const float floor = std::floor(at);
    const auto lower = static_cast<std::int64_t>(base) + static_cast<std::int64_t>(floor);
    const std::int64_t begin = std::clamp(lower, axis.low, axis.high - count);
    float* weight = weights.data() + static_cast<std::int64_t>(i) * count;
    first[i] = begin;
    // Beyond an edge its pixel is repeated: all of the weight is that pixel's.
    const float part = lower < axis.low ? 0.0F : lower >= axis.high - 1 ? 1.0F : at - floor;
    if (count == 1) {
      weight[0] = 1;
    } else {
      weight[0] = 1 - part;
      weight[1] = part;
    }
  }
}

void Taps::set_antialias(const SourceAxis& axis, float scale) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float at = static_cast<float>(axis.begin - static_cast<double>(axis.low)) +
                     (static_cast<float>(i) + 0.5F) * scale;  // from axis.low
    const auto last_pixel = axis.high - axis.low - 1;
    const auto lower = static_cast<std::int64_t>(std::ceil(at - scale - 0.5F));
    const auto upper = static_cast<std::int64_t>(std::floor(at + scale - 0.5F));
    const std::int64_t from = std::clamp<std::int64_t>(lower, 0, last_pixel);
    const std::int64_t to = std::clamp<std::int64_t>(upper, from, last_pixel);
    const std::int64_t begin = std::min(from, last_pixel + 1 - count);
    float* weight = weights.data() + static_cast<std::int64_t>(i) * count;
    first[i] = axis.low + begin;
    float sum = 0;
    for (std::int64_t pixel = from; pixel <= std::min(to, begin + count - 1); ++pixel) {
      const float distance = std::fabs((static_cast<float>(pixel) + 0.5F - at) / scale);
      weight[pixel - begin] = std::max(0.0F, 1 - distance);
      sum += weight[pixel - begin];
    }
    if (sum <= 0) {
      weight[from - begin] = sum = 1;
    }
    for (std::int64_t k = 0; k < count; ++k) weight[k] /= sum;
  }
}

void Taps::reverse() {
  std::reverse(first.begin(), first.end());
  std::reverse(weights.begin(), weights.end());  // turns the taps of each output around as well
  for (std::int64_t i = 0; i < outputs(); ++i) {
    std::reverse(weights.data() + i * count, weights.data() + (i + 1) * count);
  }
}

}  // namespace headrace

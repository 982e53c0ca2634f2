// Taps: which source pixels of one axis an output pixel is made of, and how much of each.
//
// Weights are those of tf.image.resize, method bilinear: half-pixel centres, edges repeated; with antialias a triangle as
// wide as an output pixel, cut and normalised at the edges.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace {

/// Source coordinates: pixel i is [i, i + 1).
struct SourceAxis {
  double begin = 0;  ///< the part that becomes the output
  double end = 0;
  std::int64_t low = 0;  ///< pixels that may be read: [low, high)
  std::int64_t high = 0;
};

/// Output i is the sum of weights[i * count + k] * pixel[first[i] + k]; all of them in [low, high). Memory is kept.
struct Taps {
  std::int64_t count = 0;
  std::vector<std::int64_t> first;
  std::vector<float> weights;

  void set(const SourceAxis& axis, std::int64_t outputs, bool antialias);
  /// The outputs in the opposite order.
  void reverse();

  std::int64_t outputs() const { return static_cast<std::int64_t>(first.size()); }
  const float* weights_of(std::int64_t output) const { return weights.data() + output * count; }

 private:
  void set_bilinear(const SourceAxis& axis, float scale);
  void set_antialias(const SourceAxis& axis, float scale);
};

}  // namespace headrace

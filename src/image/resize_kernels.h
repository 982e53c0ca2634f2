// The two loops of a resize: rows into one row of floats, and that row into the output's. Pure functions.
//
// Each is compiled for the baseline and for AVX2 and chosen once; both round alike.
#pragma once

#include <cstdint>

namespace headrace {

/// Floats that a row may be read beyond its end.
constexpr std::int64_t kRowPadding = 8;

struct ResizeKernels {
  /// to[i] = sum of weights[k] * rows[k][i], for i < elements.
  void (*blend_rows)(const std::uint8_t* const* rows, const float* weights, std::int64_t taps, std::int64_t elements,
                     float* to);
  /// Output pixel x is the sum of weights[x * taps + k] * from[pixel first[x] + k]; `from` is readable kRowPadding beyond the
  /// last pixel, `to` writable as far beyond `outputs` pixels.
  void (*blend_columns)(const float* from, const std::int64_t* first, const float* weights, std::int64_t taps,
                        std::int64_t outputs, std::int64_t channels, float* to);
};

const ResizeKernels& resize_kernels();

}  // namespace headrace

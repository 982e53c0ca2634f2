#include "image/resize_kernels.h"

#include <cstring>

#include "base/cpu.h"

namespace headrace {
namespace {

// One pixel of up to four channels.
using Pixel = float __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Pixel load(const float* from) {
  Pixel pixel;
  std::memcpy(&pixel, from, sizeof pixel);
  return pixel;
}
[[gnu::always_inline]] inline void store(float* to, Pixel pixel) { std::memcpy(to, &pixel, sizeof pixel); }

[[gnu::always_inline]] inline void rows_loop(const std::uint8_t* const* rows, const float* weights, std::int64_t taps,
                                             std::int64_t elements, float* to) {
  if (taps == 1 || (taps == 2 && weights[1] == 0)) {
    for (std::int64_t i = 0; i < elements; ++i) to[i] = static_cast<float>(rows[0][i]) * weights[0];
    return;
  }
  if (taps == 2) {
    const std::uint8_t* a = rows[0];
    const std::uint8_t* b = rows[1];
    const float part = weights[1];
    for (std::int64_t i = 0; i < elements; ++i) {
      to[i] = static_cast<float>(a[i]) + static_cast<float>(static_cast<std::int32_t>(b[i]) - a[i]) * part;
    }
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i) to[i] = static_cast<float>(rows[0][i]) * weights[0];
  for (std::int64_t k = 1; k < taps; ++k) {
    const std::uint8_t* row = rows[k];
    const float weight = weights[k];
    for (std::int64_t i = 0; i < elements; ++i) to[i] += static_cast<float>(row[i]) * weight;
  }
}

template <int kChannels>
[[gnu::always_inline]] inline void pixels_loop(const float* from, const std::int64_t* first, const float* weights,
                                               std::int64_t taps, std::int64_t outputs, float* to) {
  if (taps == 2) {
    for (std::int64_t x = 0; x < outputs; ++x, to += kChannels) {
      const float* at = from + first[x] * kChannels;
      const Pixel a = load(at);
      const Pixel b = load(at + kChannels);
      store(to, a + (b - a) * weights[2 * x + 1]);
    }
    return;
  }
  for (std::int64_t x = 0; x < outputs; ++x, to += kChannels) {
    const float* at = from + first[x] * kChannels;
    Pixel sum = load(at) * weights[x * taps];
    for (std::int64_t k = 1; k < taps; ++k) sum += load(at + k * kChannels) * weights[x * taps + k];
    store(to, sum);
  }
}

[[gnu::always_inline]] inline void gray_loop(const float* from, const std::int64_t* first, const float* weights,
                                             std::int64_t taps, std::int64_t outputs, float* to) {
  for (std::int64_t x = 0; x < outputs; ++x) {
    const float* at = from + first[x];
    if (taps == 2) {
      to[x] = at[0] + (at[1] - at[0]) * weights[2 * x + 1];
      continue;
    }
    float sum = 0;
    for (std::int64_t k = 0; k < taps; ++k) sum += at[k] * weights[x * taps + k];
    to[x] = sum;
  }
}

[[gnu::always_inline]] inline void columns_loop(const float* from, const std::int64_t* first, const float* weights,
                                                std::int64_t taps, std::int64_t outputs, std::int64_t channels,
                                                float* to) {
  if (channels == 1) return gray_loop(from, first, weights, taps, outputs, to);
  if (channels == 3) return pixels_loop<3>(from, first, weights, taps, outputs, to);
  pixels_loop<4>(from, first, weights, taps, outputs, to);
}

void rows_baseline(const std::uint8_t* const* rows, const float* weights, std::int64_t taps, std::int64_t elements,
                   float* to) {
  rows_loop(rows, weights, taps, elements, to);
}
void columns_baseline(const float* from, const std::int64_t* first, const float* weights, std::int64_t taps,
                      std::int64_t outputs, std::int64_t channels, float* to) {
  columns_loop(from, first, weights, taps, outputs, channels, to);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void rows_avx2(const std::uint8_t* const* rows, const float* weights, std::int64_t taps,
                                               std::int64_t elements, float* to) {
  rows_loop(rows, weights, taps, elements, to);
}
__attribute__((target("avx2"))) void columns_avx2(const float* from, const std::int64_t* first, const float* weights,
                                                  std::int64_t taps, std::int64_t outputs, std::int64_t channels,
                                                  float* to) {
  columns_loop(from, first, weights, taps, outputs, channels, to);
}
#endif

ResizeKernels choose() {
#if defined(__x86_64__)
  if (cpu_features().avx2) return {rows_avx2, columns_avx2};
#endif
  return {rows_baseline, columns_baseline};
}

}  // namespace

const ResizeKernels& resize_kernels() {
  static const ResizeKernels kKernels = choose();
  return kKernels;
}

}  // namespace headrace

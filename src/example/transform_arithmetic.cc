// Arithmetic on values: scale, normalize, log1p, fill_nan on float32 and float64; clip and mod on whole numbers, too.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "example/float16.h"
#include "example/transform_types.h"
#include "example/value_loop.h"

namespace headrace {
namespace {

/// Constants that differ along a row are repeated up to this many, so that the inner loop stays long.
constexpr std::int64_t kShortestPattern = 64;

template <class T>
struct Plain {
  using Out = T;
  [[gnu::always_inline]] static T turn(T value) { return value; }
};
struct ToBfloat16 {
  using Out = std::uint16_t;
  [[gnu::always_inline]] static std::uint16_t turn(float value) { return to_bfloat16(value); }
};
struct ToFloat16 {
  using Out = std::uint16_t;
  [[gnu::always_inline]] static std::uint16_t turn(float value) { return to_float16(value); }
};

struct ScaleStep {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, T mul, T add) {
    return x * mul + add;
  }
};
struct NormalizeStep {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, T mean, T std) {
    return (x - mean) / std;
  }
};
struct ClipStep {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, T lo, T hi) {
    const T below = x > hi ? hi : x;
    return below < lo ? lo : below;
  }
};
struct FillNanStep {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, T value, T /*unused*/) {
    return x != x ? value : x;
  }
};

/// Step on each value with its two constants, then Store.
template <class T, class Step, class Store>
struct ConstantsLoop {
  using Out = typename Store::Out;
  [[gnu::always_inline]] static std::int64_t run(const ValueOp& op, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count, std::int64_t place) {
    const T* const first = op.first.as<T>();
    const T* const second = op.second.as<T>();
    if (op.pattern == 1) {
      const T a = first[0];
      const T b = second[0];
      for (std::int64_t i = 0; i < count; ++i) {
        set_value<Out>(to, i, Store::turn(Step::template apply<T>(value_at<T>(from, i), a, b)));
      }
      return -1;
    }
    std::int64_t at = place % op.pattern;
    for (std::int64_t done = 0; done < count; at = 0) {
      const std::int64_t part = count - done < op.pattern - at ? count - done : op.pattern - at;
      for (std::int64_t i = 0; i < part; ++i) {
        const T value = value_at<T>(from, done + i);
        set_value<Out>(to, done + i, Store::turn(Step::template apply<T>(value, first[at + i], second[at + i])));
      }
      done += part;
    }
    return -1;
  }
};

// log(1 + x) by way of double, so that the float is the nearest one but for ties that nobody sees.
[[gnu::always_inline]] inline float log1p_of(float value) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr std::uint64_t kOne = 0x3FF0000000000000;
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const double x = value;
  const double u = 1.0 + x;
  const double lost = u < 2.0 ? x - (u - 1.0) : 0.0;  // what the sum rounded off a small x
  // u = m * 2^e with m from sqrt(1/2) to sqrt(2); log(m) is a series in s.
  const auto bits = std::bit_cast<std::uint64_t>(u);
  const std::uint64_t exponent = (bits + (kOne - kSqrtHalf)) >> 52;
  const double m = std::bit_cast<double>(bits - (exponent << 52) + kOne);
  const double e = std::bit_cast<double>(0x4330000000000000 | exponent) - (0x1p52 + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double q = s * s;
  const double even =
      1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13 + q / 15)))));
  const auto inside = static_cast<float>(e * kLn2 + (2.0 * s + 2.0 * s * q * even) + lost);
  const float outside = value == -1.0F ? -kInfinity : value < -1.0F ? std::numeric_limits<float>::quiet_NaN() : value;
  return value > -1.0F && value < kInfinity && value != 0.0F ? inside : outside;
}

template <class T>
struct Log1pLoop {
  [[gnu::always_inline]] static std::int64_t run(const ValueOp& /*op*/, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count,
                                                 std::int64_t /*place*/) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = value_at<T>(from, i);
      if constexpr (std::is_same_v<T, float>) {
        set_value<T>(to, i, log1p_of(value));
      } else {
        set_value<T>(to, i, std::log1p(value));
      }
    }
    return -1;
  }
};

template <class T>
struct ModLoop {
  static std::int64_t run(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                          std::int64_t /*place*/) {
    const T divisor = op.first.as<T>()[0];
    for (std::int64_t i = 0; i < count; ++i) {
      auto rest = static_cast<T>(value_at<T>(from, i) % divisor);
      if constexpr (std::is_signed_v<T>) rest = static_cast<T>(rest < 0 ? rest + divisor : rest);
      set_value<T>(to, i, rest);
    }
    return -1;
  }
};

template <class T, class Step>
constexpr auto kLoop = Twin<ConstantsLoop<T, Step, Plain<T>>>::choose;

template <class T>
T as(const Number& number) {
  const auto* whole = std::get_if<std::int64_t>(&number);
  return whole != nullptr ? static_cast<T>(*whole) : static_cast<T>(std::get<double>(number));
}

template <class T>
Constants repeat(const std::vector<double>& values, std::int64_t pattern) {
  std::vector<T> repeated(static_cast<std::size_t>(pattern));
  for (std::size_t i = 0; i < repeated.size(); ++i) repeated[i] = static_cast<T>(values[i % values.size()]);
  return Constants(std::span<const T>(repeated));
}

template <class Step>
ValueOp make_pair(DType dtype, const std::vector<double>& first, const std::vector<double>& second) {
  // Both lists have one value or the same number of values.
  auto pattern = static_cast<std::int64_t>(std::max(first.size(), second.size()));
  if (pattern > 1) pattern *= (kShortestPattern + pattern - 1) / pattern;
  ValueOp op;
  op.to_bytes = size_of(dtype);
  op.pattern = pattern;
  op.run = for_real(dtype, [&](auto zero) {
    using T = decltype(zero);
    op.first = repeat<T>(first, pattern);
    op.second = repeat<T>(second, pattern);
    return kLoop<T, Step>();
  });
  return op;
}

template <class Step>
ValueOp::Run fused_run(ValueOp::Run first, ValueOp::Run second) {
  if (first != kLoop<float, Step>()) return nullptr;
  if (second == bfloat16_run()) return Twin<ConstantsLoop<float, Step, ToBfloat16>>::choose();
  if (second == float16_run()) return Twin<ConstantsLoop<float, Step, ToFloat16>>::choose();
  return nullptr;
}

}  // namespace

ValueOp make_scale(DType dtype, const Scale& scale) { return make_pair<ScaleStep>(dtype, scale.mul, scale.add); }

ValueOp make_normalize(DType dtype, const Normalize& normalize) {
  return make_pair<NormalizeStep>(dtype, normalize.mean, normalize.std);
}

ValueOp make_fill_nan(DType dtype, const FillNan& fill) {
  return make_pair<FillNanStep>(dtype, {fill.value}, {fill.value});
}

ValueOp make_log1p(DType dtype) {
  ValueOp op;
  op.to_bytes = size_of(dtype);
  op.run = for_real(dtype, [](auto zero) -> ValueOp::Run { return Twin<Log1pLoop<decltype(zero)>>::choose(); });
  return op;
}

ValueOp make_clip(DType dtype, const Clip& clip) {
  ValueOp op;
  op.to_bytes = size_of(dtype);
  const auto choose = [&](auto zero) {
    using T = decltype(zero);
    const T limits[] = {as<T>(clip.lo), as<T>(clip.hi)};
    op.first = Constants(std::span<const T>(limits, 1));
    op.second = Constants(std::span<const T>(limits + 1, 1));
    return kLoop<T, ClipStep>();
  };
  op.run = is_integer(dtype) ? for_integer(dtype, choose) : for_real(dtype, choose);
  return op;
}

ValueOp make_mod(DType dtype, const Mod& mod) {
  ValueOp op;
  op.to_bytes = size_of(dtype);
  op.run = for_integer(dtype, [&](auto zero) -> ValueOp::Run {
    using T = decltype(zero);
    const T divisor[] = {static_cast<T>(mod.divisor)};
    op.first = Constants(std::span<const T>(divisor));
    return ModLoop<T>::run;
  });
  return op;
}

ValueOp fuse(const ValueOp& first, const ValueOp& second) {
  ValueOp fused = first;
  fused.to_bytes = second.to_bytes;
  fused.run = fused_run<ScaleStep>(first.run, second.run);
  if (fused.run == nullptr) fused.run = fused_run<NormalizeStep>(first.run, second.run);
  return fused;
}

}  // namespace headrace

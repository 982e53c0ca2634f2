// What the kernels of transforms share: unaligned values, loops compiled twice, dispatch by dtype.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "example/transform_op.h"
#include "headrace/types.h"

namespace headrace {

template <class T>
[[gnu::always_inline]] inline T value_at(const std::uint8_t* values, std::int64_t i) {
  T value;
  std::memcpy(&value, values + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
[[gnu::always_inline]] inline void set_value(std::uint8_t* values, std::int64_t i, T value) {
  std::memcpy(values + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

/// Loop::run, with the signature of ValueOp::Run and always inlined, for this CPU: the compiler makes one version for the
/// baseline, which is the scalar twin, and one for AVX2. FMA stays off, so that both round alike.
template <class Loop>
struct Twin {
  static std::int64_t run_baseline(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                                   std::int64_t place) {
    return Loop::run(op, from, to, count, place);
  }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static std::int64_t run_avx2(const ValueOp& op, const std::uint8_t* from,
                                                               std::uint8_t* to, std::int64_t count,
                                                               std::int64_t place) {
    return Loop::run(op, from, to, count, place);
  }
  static ValueOp::Run choose() { return cpu_features().avx2 ? run_avx2 : run_baseline; }
#else
  static ValueOp::Run choose() { return run_baseline; }
#endif
};

/// What T{} is of the C++ type of `dtype` goes to `function`, which gives a ValueOp::Run; null for what is no integer.
template <class Function>
ValueOp::Run for_integer(DType dtype, Function function) {
  switch (dtype) {
    case DType::kInt8:
      return function(std::int8_t{});
    case DType::kInt16:
      return function(std::int16_t{});
    case DType::kInt32:
      return function(std::int32_t{});
    case DType::kInt64:
      return function(std::int64_t{});
    case DType::kUint8:
      return function(std::uint8_t{});
    case DType::kUint16:
      return function(std::uint16_t{});
    case DType::kUint32:
      return function(std::uint32_t{});
    case DType::kUint64:
      return function(std::uint64_t{});
    default:
      return nullptr;
  }
}

/// The same for float32 and float64.
template <class Function>
ValueOp::Run for_real(DType dtype, Function function) {
  if (dtype == DType::kFloat32) return function(float{});
  return dtype == DType::kFloat64 ? function(double{}) : nullptr;
}

}  // namespace headrace

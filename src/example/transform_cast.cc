// Casts between number types. One loop for each pair of bool, integers, float32 and float64; float16 and bfloat16 go by way
// of float32, as in TensorFlow.
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "example/float16.h"
#include "example/value_loop.h"

namespace headrace {
namespace {

template <class From, class To>
constexpr bool always_fits() {
  if constexpr (std::is_same_v<From, bool> || std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_same_v<To, bool> || std::is_floating_point_v<From>) {
    return false;
  } else {
    return std::in_range<To>(std::numeric_limits<From>::min()) && std::in_range<To>(std::numeric_limits<From>::max());
  }
}

template <class To, class From>
[[gnu::always_inline]] inline bool fits(From value) {
  if constexpr (always_fits<From, To>()) {
    return true;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value == From{0} || value == From{1};
  } else if constexpr (std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else {
    // What is left of the point must fit. All bounds are exact; below -2^63 comes a number 2^10 further down.
    constexpr auto kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double kPastHigh = 2.0 * static_cast<double>(std::numeric_limits<To>::max() / 2 + 1);
    const double v = value;
    return (std::is_same_v<To, std::int64_t> ? v >= kLow : v > kLow - 1.0) && v < kPastHigh;
  }
}

template <class From, class To>
struct CastLoop {
  [[gnu::always_inline]] static std::int64_t run(const ValueOp& /*op*/, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count,
                                                 std::int64_t /*place*/) {
    unsigned bad = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const From value = value_at<From>(from, i);
      const bool good = fits<To>(value);
      bad |= good ? 0U : 1U;
      set_value<To>(to, i, static_cast<To>(good ? value : From{0}));
    }
    if (bad == 0) return -1;
    std::int64_t first = 0;
    while (fits<To>(value_at<From>(from, first))) ++first;
    return first;
  }
};

template <std::uint16_t (*kConvert)(float)>
struct NarrowLoop {
  [[gnu::always_inline]] static std::int64_t run(const ValueOp& /*op*/, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count,
                                                 std::int64_t /*place*/) {
    for (std::int64_t i = 0; i < count; ++i) set_value<std::uint16_t>(to, i, kConvert(value_at<float>(from, i)));
    return -1;
  }
};

template <float (*kConvert)(std::uint16_t)>
struct WidenLoop {
  [[gnu::always_inline]] static std::int64_t run(const ValueOp& /*op*/, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count,
                                                 std::int64_t /*place*/) {
    for (std::int64_t i = 0; i < count; ++i) set_value<float>(to, i, kConvert(value_at<std::uint16_t>(from, i)));
    return -1;
  }
};

template <class... Types>
struct TypeList {
  static constexpr std::size_t kSize = sizeof...(Types);
};
using Direct = TypeList<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                        std::uint32_t, std::uint64_t, float, double>;
constexpr DType kDirect[] = {DType::kBool,   DType::kInt8,    DType::kInt16,  DType::kInt32,
                             DType::kInt64,  DType::kUint8,   DType::kUint16, DType::kUint32,
                             DType::kUint64, DType::kFloat32, DType::kFloat64};
static_assert(std::size(kDirect) == Direct::kSize);

std::size_t place_of(DType dtype) {
  std::size_t place = 0;
  while (kDirect[place] != dtype) ++place;
  return place;
}

// The types that records and images hold have a second version of their loops.
template <class From, class To>
ValueOp::Run choose_cast() {
  using Loops = Twin<CastLoop<From, To>>;
  constexpr bool kFrequent =
      std::is_same_v<From, std::int64_t> || std::is_same_v<From, float> || std::is_same_v<From, std::uint8_t>;
  if constexpr (kFrequent) return Loops::choose();
  return Loops::run_baseline;
}

template <class From, class... To>
std::array<ValueOp::Run, Direct::kSize> casts_from(TypeList<To...> /*types*/) {
  return {choose_cast<From, To>()...};
}

template <class... From>
ValueOp::Run choose_direct(TypeList<From...> types, DType from, DType to) {
  using Row = std::array<ValueOp::Run, Direct::kSize>;
  static const std::array<Row, Direct::kSize> kTable = {casts_from<From>(types)...};
  return kTable[place_of(from)][place_of(to)];
}

bool may_fail(DType from, DType to) {
  if (from == DType::kBool || to == DType::kFloat32 || to == DType::kFloat64) return false;
  if (to == DType::kBool || from == DType::kFloat32 || from == DType::kFloat64) return true;
  const bool from_signed = from <= DType::kInt64;
  const bool to_signed = to <= DType::kInt64;
  if (from_signed == to_signed) return size_of(from) > size_of(to);
  return from_signed || size_of(from) >= size_of(to);
}

std::string range_text(DType dtype) {
  const std::string name(to_string(dtype));
  if (dtype == DType::kBool) return name + " (0 or 1)";
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  if (dtype > DType::kInt64) {
    return name + " (0 to " + std::to_string(~std::uint64_t{0} >> (64 - bits)) + ")";
  }
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return name + " (" + std::to_string(-highest - 1) + " to " + std::to_string(highest) + ")";
}

ValueOp make_op(ValueOp::Run run, DType to) { return {.run = run, .to_bytes = size_of(to)}; }

}  // namespace

ValueOp::Run float16_run() { return Twin<NarrowLoop<to_float16>>::choose(); }
ValueOp::Run bfloat16_run() { return Twin<NarrowLoop<to_bfloat16>>::choose(); }

void add_cast(DType from, DType to, std::vector<ValueOp>* ops) {
  if (from == to) return;
  if (from == DType::kFloat16 || from == DType::kBfloat16) {
    const ValueOp::Run widen =
        from == DType::kFloat16 ? Twin<WidenLoop<from_float16>>::choose() : Twin<WidenLoop<from_bfloat16>>::choose();
    ops->push_back(make_op(widen, DType::kFloat32));
    from = DType::kFloat32;
  }
  const bool narrow = to == DType::kFloat16 || to == DType::kBfloat16;
  const DType direct = narrow ? DType::kFloat32 : to;
  if (from != direct) {
    ValueOp op = make_op(choose_direct(Direct{}, from, direct), direct);
    op.fallible = may_fail(from, direct);
    if (op.fallible) op.expected = range_text(direct);
    ops->push_back(std::move(op));
  }
  if (narrow) {
    ops->push_back(make_op(to == DType::kFloat16 ? float16_run() : bfloat16_run(), to));
  }
}

}  // namespace headrace

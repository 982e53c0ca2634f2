// Values to ids: bucketize, one_hot, hash_bucket, lookup.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/fingerprint.h"
#include "example/value_loop.h"
#include "headrace/status.h"

namespace headrace {
namespace {

/// Up to here counting all boundaries is faster than a search, which the compiler cannot make vector code.
constexpr std::int64_t kCountedBoundaries = 32;

template <class T>
struct BucketizeLoop {
  using Compared = std::conditional_t<std::is_same_v<T, double>, double, float>;

  [[gnu::always_inline]] static std::int64_t run(const ValueOp& op, const std::uint8_t* __restrict from,
                                                 std::uint8_t* __restrict to, std::int64_t count,
                                                 std::int64_t /*place*/) {
    const Compared* const boundaries = op.first.as<Compared>();
    if (op.number <= kCountedBoundaries) {
      for (std::int64_t i = 0; i < count; ++i) set_value<std::int32_t>(to, i, 0);
      for (std::int64_t b = 0; b < op.number; ++b) {
        const Compared boundary = boundaries[b];
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int32_t bucket = value_at<std::int32_t>(to, i);
          const bool below = static_cast<Compared>(value_at<T>(from, i)) < boundary;
          set_value<std::int32_t>(to, i, below ? bucket : bucket + 1);
        }
      }
      return -1;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Compared>(value_at<T>(from, i));
      const Compared* above = std::upper_bound(boundaries, boundaries + op.number, value);
      set_value<std::int32_t>(to, i, static_cast<std::int32_t>(above - boundaries));
    }
    return -1;
  }
};

template <class T>
struct OneHotLoop {
  static std::int64_t run(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                          std::int64_t /*place*/) {
    const std::size_t size = op.to_bytes / static_cast<std::size_t>(op.number);
    std::memset(to, 0, static_cast<std::size_t>(count) * op.to_bytes);
    for (std::int64_t i = 0; i < count; ++i, to += op.to_bytes) {
      const T value = value_at<T>(from, i);
      if (std::cmp_less(value, 0) || std::cmp_greater_equal(value, op.number)) continue;
      std::memcpy(to + static_cast<std::size_t>(value) * size, op.first.as<std::uint8_t>(), size);
    }
    return -1;
  }
};

// Strings are hashed as they are, whole numbers by their decimal text.
std::uint64_t fingerprint(std::string_view text) { return fingerprint64(text); }
template <class T>
std::uint64_t fingerprint(T number) {
  char digits[24];
  const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return fingerprint64({digits, static_cast<std::size_t>(end - digits)});
}

template <class T>
struct HashLoop {
  static std::int64_t run(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                          std::int64_t /*place*/) {
    const auto buckets = static_cast<std::uint64_t>(op.number);
    for (std::int64_t i = 0; i < count; ++i) {
      set_value(to, i, static_cast<std::int64_t>(fingerprint(value_at<T>(from, i)) % buckets));
    }
    return -1;
  }
};

template <class T>
struct LookupLoop {
  static std::int64_t run(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                          std::int64_t /*place*/) {
    const Vocabulary& vocabulary = *op.vocabulary;
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = value_at<T>(from, i);
      std::int64_t id = find(vocabulary, value);
      if (id < 0 && op.fallible) return i;
      if (id < 0 && op.number > 0) {
        id = vocabulary.size() + static_cast<std::int64_t>(fingerprint(value) % static_cast<std::uint64_t>(op.number));
      } else if (id < 0) {
        id = op.unknown;
      }
      set_value(to, i, id);
    }
    return -1;
  }

 private:
  static std::int64_t find(const Vocabulary& vocabulary, T value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      return vocabulary.find(value, fingerprint64(value));
    } else {
      return std::in_range<std::int64_t>(value) ? vocabulary.find(static_cast<std::int64_t>(value)) : -1;
    }
  }
};

// The bytes of the number 1.
Constants one_of(DType dtype) {
  std::vector<ValueOp> ops;
  add_cast(DType::kBool, dtype, &ops);
  std::uint8_t value[8] = {1};
  for (const ValueOp& op : ops) {
    std::uint8_t next[8] = {};
    (void)op.run(op, value, next, 1, 0);
    std::memcpy(value, next, sizeof value);
  }
  return Constants(std::span<const std::uint8_t>(value));
}

}  // namespace

ValueOp make_bucketize(DType dtype, const Bucketize& bucketize) {
  ValueOp op;
  op.to_bytes = sizeof(std::int32_t);
  op.number = static_cast<std::int64_t>(bucketize.boundaries.size());
  const std::vector<double> wide(bucketize.boundaries.begin(), bucketize.boundaries.end());
  switch (dtype) {
    case DType::kInt32:
      op.run = Twin<BucketizeLoop<std::int32_t>>::choose();
      break;
    case DType::kInt64:
      op.run = Twin<BucketizeLoop<std::int64_t>>::choose();
      break;
    case DType::kFloat32:
      op.run = Twin<BucketizeLoop<float>>::choose();
      break;
    default:
      op.run = Twin<BucketizeLoop<double>>::choose();
      op.first = Constants(std::span<const double>(wide));
      return op;
  }
  op.first = Constants(std::span<const float>(bucketize.boundaries));
  return op;
}

ValueOp make_one_hot(DType dtype, const OneHot& one_hot) {
  ValueOp op;
  op.to_bytes = static_cast<std::size_t>(one_hot.depth) * size_of(one_hot.dtype);
  op.number = one_hot.depth;
  op.first = one_of(one_hot.dtype);
  op.run = for_integer(dtype, [](auto zero) -> ValueOp::Run { return OneHotLoop<decltype(zero)>::run; });
  return op;
}

ValueOp make_hash_bucket(DType dtype, const HashBucket& hash) {
  ValueOp op;
  op.to_bytes = sizeof(std::int64_t);
  op.number = hash.buckets;
  op.run = dtype == DType::kBytes
               ? HashLoop<std::string_view>::run
               : for_integer(dtype, [](auto zero) -> ValueOp::Run { return HashLoop<decltype(zero)>::run; });
  return op;
}

Result<ValueOp> make_lookup(DType dtype, const Lookup& lookup) {
  ValueOp op;
  op.to_bytes = sizeof(std::int64_t);
  op.fallible = lookup.oov_fails && lookup.num_oov_buckets == 0;
  op.expected = "a value of the vocabulary";
  op.unknown = lookup.oov;
  op.number = lookup.num_oov_buckets;
  if (dtype == DType::kBytes) {
    op.vocabulary = std::make_shared<const Vocabulary>(std::span(lookup.strings));
    op.run = LookupLoop<std::string_view>::run;
  } else {
    op.vocabulary = std::make_shared<const Vocabulary>(std::span(lookup.integers));
    op.run = for_integer(dtype, [](auto zero) -> ValueOp::Run { return LookupLoop<decltype(zero)>::run; });
  }
  if (const std::int64_t repeated = op.vocabulary->repeated(); repeated >= 0) {
    return invalid_argument("entry " + std::to_string(repeated) + " of the vocabulary is there before");
  }
  return op;
}

}  // namespace headrace

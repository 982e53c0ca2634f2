// Transforms: what is done to the values of a feature while they are stored.
//
// The column of a feature with transforms is exactly what the transforms, one after another, make of its column without
// them: defaults and padding pass through them, too. Each of the structs below is a plain value; Schema::validate() checks
// the whole list of a feature. docs/guides/transforms.md has the table of what takes what.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "headrace/types.h"

namespace headrace {

/// A constant that is a whole number or not; an integer column takes whole numbers only.
using Number = std::variant<std::int64_t, double>;

/// To another number type. Whole numbers must fit the new type, bool takes 0 and 1 only, floats lose their fraction on the
/// way to whole numbers and must fit then; anything else fails the record. Between float types as the CPU rounds: to the
/// nearest, ties to even, infinity beyond the largest.
struct Cast {
  DType dtype = DType::kFloat32;
};
/// x * mul + add, rounded after each step. float32 and float64.
struct Scale {
  std::vector<double> mul = {1.0};  ///< one, or one for each place of the last dimension
  std::vector<double> add = {0.0};  ///< the same
};
/// (x - mean) / std, rounded after each step. float32 and float64.
struct Normalize {
  std::vector<double> mean = {0.0};  ///< one, or one for each place of the last dimension
  std::vector<double> std = {1.0};   ///< the same; none is 0
};
/// At least lo, at most hi; a NaN stays one. Whole numbers, float32 and float64.
struct Clip {
  Number lo;
  Number hi;
};
/// log(1 + x). float32 and float64.
struct Log1p {};
/// `value` in place of every NaN. float32 and float64.
struct FillNan {
  double value = 0.0;
};
/// How many of the boundaries are not above the value, which is compared as float32 (float64 columns: as float64); int32.
/// NaN counts all. int32, int64, float32 and float64.
struct Bucketize {
  std::vector<float> boundaries;  ///< not decreasing
};
/// A new last dimension of `depth`: 1 at the value's place, else 0; all 0 when the value is none of 0 … depth - 1. Whole
/// numbers. The last of a list.
struct OneHot {
  std::int64_t depth = 0;
  DType dtype = DType::kFloat32;  ///< of the result; a number or bool
};
/// FarmHash Fingerprint64 mod `buckets`, as tf.strings.to_hash_bucket_fast; int64. Strings, and whole numbers by their
/// decimal text.
struct HashBucket {
  std::int64_t buckets = 0;
};
/// The remainder in 0 … divisor - 1. Whole numbers.
struct Mod {
  std::int64_t divisor = 0;
};
/// The place of the value in the vocabulary, from 0; int64. Strings by `strings`, whole numbers by `integers`.
struct Lookup {
  std::vector<std::string> strings;
  std::vector<std::int64_t> integers;
  bool oov_fails = false;            ///< a value that is not there fails the record
  std::int64_t oov = -1;             ///< else its id, unless
  std::int64_t num_oov_buckets = 0;  ///< there are any: then vocabulary size + HashBucket{num_oov_buckets} of it
};
/// At most the first `count` values of a record (steps of a FixedLenSequenceFeature).
struct Truncate {
  std::int64_t count = 0;
};
/// What stands behind the values of a short record; nothing: 0, or the empty string.
using PadValue = std::variant<std::monostate, std::int64_t, double, std::string>;
/// Exactly `count` values of a record (steps of a FixedLenSequenceFeature): longer ones are cut, shorter ones get `value`
/// behind them. A ragged column becomes a dense one.
struct Pad {
  static constexpr std::int64_t kLongest = -1;  ///< as many as the record of the batch with the most has
  std::int64_t count = 0;
  PadValue value = {};
  bool refuse_longer = false;  ///< a record with more than `count` does not fit, instead of being cut
};

using Transform = std::variant<Cast, Scale, Normalize, Clip, Log1p, FillNan, Bucketize, OneHot, HashBucket, Mod, Lookup,
                               Truncate, Pad>;

}  // namespace headrace

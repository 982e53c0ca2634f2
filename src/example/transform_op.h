// ValueOp: one transform made ready to run over an array of values. Constant once made; any thread.
//
// Values of strings are std::string_view; bool, float16 and bfloat16 values are 1 and 2 bytes as in a column. Arrays need
// no alignment: they may lie in a record. Nothing is allocated while an op runs.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "example/vocabulary.h"
#include "headrace/status.h"
#include "headrace/transform.h"

namespace headrace {

/// Constants of one transform in the type it works in.
class Constants {
 public:
  Constants() = default;
  template <class T>
  explicit Constants(std::span<const T> values) : bytes_(values.size_bytes()) {
    if (!values.empty()) std::memcpy(bytes_.data(), values.data(), values.size_bytes());
  }
  /// T as at construction.
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

struct ValueOp {
  /// Turns `count` values at `from` into as many at `to`, which do not overlap. The values are those from `place` on of
  /// their rows, rows one after another. -1, or the index of the first value that cannot be turned; what is written from
  /// there on is arbitrary.
  using Run = std::int64_t (*)(const ValueOp& op, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                               std::int64_t place);
  Run run = nullptr;
  std::size_t to_bytes = 0;   ///< what one value becomes
  bool fallible = false;      ///< run() may give something else than -1
  std::string expected;       ///< then what it takes, for the error
  Constants first;            ///< mul, mean, lo, value, boundaries, the one of one_hot
  Constants second;           ///< add, std, hi
  std::int64_t pattern = 1;   ///< values of both before they repeat along a row
  std::int64_t number = 0;    ///< boundaries, depth, buckets or divisor
  std::int64_t unknown = -1;  ///< lookup: id of what is not there
  std::shared_ptr<const Vocabulary> vocabulary;
};

/// How float32 becomes the 16-bit types.
ValueOp::Run float16_run();
ValueOp::Run bfloat16_run();
/// Appends what casts `from` to `to`: nothing when they are the same.
void add_cast(DType from, DType to, std::vector<ValueOp>* ops);

// float32 and float64.
ValueOp make_scale(DType dtype, const Scale& scale);
ValueOp make_normalize(DType dtype, const Normalize& normalize);
ValueOp make_log1p(DType dtype);
ValueOp make_fill_nan(DType dtype, const FillNan& fill);
// Numbers.
ValueOp make_clip(DType dtype, const Clip& clip);
ValueOp make_mod(DType dtype, const Mod& mod);
// To ids.
ValueOp make_bucketize(DType dtype, const Bucketize& bucketize);
ValueOp make_one_hot(DType dtype, const OneHot& one_hot);
ValueOp make_hash_bucket(DType dtype, const HashBucket& hash);
/// kInvalidArgument when the vocabulary has an entry twice.
Result<ValueOp> make_lookup(DType dtype, const Lookup& lookup);

/// The two as one op when there is a kernel for them, which gives the same values; else null run.
ValueOp fuse(const ValueOp& first, const ValueOp& second);

}  // namespace headrace

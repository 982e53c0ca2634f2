// Schema: the features we expect in every record, and how each becomes a column.
//
// The words are TensorFlow's (FixedLenFeature, …); TensorFeature and RawFeature are ours. A Schema is a plain value;
// validate() is called by the builder step `parse` and names feature and value of the first thing that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace {

enum class FeatureKind : std::uint8_t {
  kFixedLen = 1,      ///< dense [batch, *shape]; int64, float32 or bytes
  kVarLen,            ///< ragged [batch, None]; handed out as sparse on request
  kRagged,            ///< ragged [batch, None, …] with optional partitions
  kFixedLenSequence,  ///< dense [batch, longest, *shape], padded
  kTensor,            ///< bytes feature that holds one serialized TensorProto: dense [batch, *shape]
  kRaw,               ///< bytes feature that holds the elements themselves (decode_raw): dense [batch, *shape]
};

enum class PartitionKind : std::uint8_t {
  kRowSplits = 1,
  kRowLengths,
  kRowStarts,
  kRowLimits,
  kValueRowIds,
  kUniformRowLength
};

/// One partition of a ragged feature, outermost first, as tf.io.RaggedFeature has them.
struct Partition {
  PartitionKind kind = PartitionKind::kRowSplits;
  std::string key;              ///< int64 feature that holds it (not for kUniformRowLength)
  std::int64_t row_length = 0;  ///< for kUniformRowLength, >= 1
};

struct Feature {
  // behaviour
  std::string name;  ///< name of the column
  std::string key;   ///< key in the record; empty = name
  FeatureKind kind = FeatureKind::kFixedLen;
  DType dtype = DType::kFloat32;  ///< dtype of the column
  Shape shape;                    ///< per record; per step for kFixedLenSequence; all dimensions known
  /// Used when the key is absent. Numeric: little-endian elements of `dtype`, either one or element_count(shape) of them.
  /// Meaningful when has_default.
  std::vector<std::uint8_t> default_numeric;
  std::vector<std::string> default_bytes;  ///< the same for kBytes
  bool has_default = false;
  std::vector<Partition> partitions;       ///< kRagged only
  bool allow_missing = true;               ///< kFixedLenSequence: must be true
  bool reshape = false;                    ///< kTensor: any shape in the proto with that many elements passes
  bool little_endian = true;               ///< kRaw: byte order of the record
  DType row_splits_dtype = DType::kInt64;  ///< kRagged: kInt32 or kInt64, what an adapter hands out
  bool sparse = false;                     ///< kVarLen: adapters hand out a sparse tensor, as TensorFlow's parse does

  const std::string& wire_key() const { return key.empty() ? name : key; }
};

struct Schema {
  std::vector<Feature> features;  ///< in the order in which columns are delivered
  bool origin = false;            ///< add int64 columns `_shard` and `_record` to every row

  /// Ok, or kInvalidArgument naming feature and value.
  Status validate() const;
};

}  // namespace headrace

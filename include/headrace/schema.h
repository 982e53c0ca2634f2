// Schema: the features we expect in every record, and how each becomes a column.
//
// The words are TensorFlow's (FixedLenFeature, …); TensorFeature and RawFeature are ours. A Schema is a plain value;
// validate() is called by the builder step `parse` and names feature and value of the first thing that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/image.h"
#include "headrace/status.h"
#include "headrace/transform.h"
#include "headrace/types.h"

namespace headrace {

enum class FeatureKind : std::uint8_t {
  kFixedLen = 1,      ///< dense [batch, *shape]; int64, float32 or bytes
  kVarLen,            ///< ragged [batch, None]; handed out as sparse on request
  kRagged,            ///< ragged [batch, None, …] with optional partitions
  kFixedLenSequence,  ///< dense [batch, longest, *shape], padded
  kTensor,            ///< bytes feature that holds one serialized TensorProto; see UnknownDims
  kRaw,               ///< bytes feature that holds the elements themselves (decode_raw); see UnknownDims
  kSparse,            ///< values with one int64 feature of indices per dimension: sparse [batch, *sizes]
  kListLength,        ///< steps of the kFixedLenSequence feature list of the same key before it: int64 [batch]
  kStack,             ///< one value of each of several keys: dense [batch, keys]; int64 or float32
  kJagged,            ///< lists of any length of several keys, one key after another; see Column
  kImage,             ///< bytes feature that holds a JPEG or PNG file: dense [batch, *shape]; uint8 or float32
};

/// What becomes of the dimensions of a kTensor or kRaw that only the record knows. Without any: dense [batch, *shape].
enum class UnknownDims : std::uint8_t {
  kRagged = 1,  ///< ragged up to the last unknown dimension; what follows it are dimensions of the values
  kPadded,      ///< dense [batch, *longest], the longest of the global batch; padded behind each dimension
  kEqual,       ///< dense; all records of a batch must have the same shape
};
/// Dimensions that a feature with unknown ones may have, and a TensorProto for a feature of unknown rank.
constexpr int kMaxUnknownRank = 8;

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

/// One dimension of a sparse feature, outermost first, as tf.io.SparseFeature has them.
struct SparseIndex {
  std::string key;        ///< int64 feature with the index of each value
  std::int64_t size = 0;  ///< indices are in [0, size); >= 1
};

struct Feature {
  // behaviour
  std::string name;               ///< name of the column
  std::string key;                ///< key in the record; empty = name
  std::vector<std::string> keys;  ///< kStack and kJagged: the keys in the record, in order; no two are equal
  FeatureKind kind = FeatureKind::kFixedLen;
  DType dtype = DType::kFloat32;  ///< dtype of the column, before the transforms
  /// Per record; per step for kFixedLenSequence; kStack: [keys]. All dimensions are known, but kTensor may have any at -1
  /// (with `reshape` one), kRaw one.
  Shape shape;
  bool unknown_rank = false;  ///< kTensor: the record has the shape, `shape` is empty
  UnknownDims unknown_dims = UnknownDims::kRagged;
  /// Used when the key is absent; for kFixedLenSequence and kPadded the one element to pad with. Numeric: little-endian
  /// elements of `dtype`, either one or element_count(shape) of them.
  /// Meaningful when has_default.
  std::vector<std::uint8_t> default_numeric;
  std::vector<std::string> default_bytes;  ///< the same for kBytes
  bool has_default = false;
  std::vector<Partition> partitions;  ///< kRagged only
  std::vector<SparseIndex> indices;   ///< kSparse only, at least one
  bool already_sorted = false;        ///< kSparse: the order of the record is kept instead of sorting by index
  bool allow_missing = true;          ///< kFixedLenSequence: false (the list must be there) for feature lists only
  bool reshape = false;               ///< kTensor: any shape in the proto passes that tf.reshape takes to `shape`
  bool little_endian = true;          ///< kRaw: byte order of the record
  /// kRaw: the bytes of every record are cut to that many or filled up with zeros, which is the size of `shape`; 0: neither.
  std::int64_t fixed_length = 0;
  DType row_splits_dtype = DType::kInt64;  ///< kRagged: kInt32 or kInt64, what an adapter hands out
  bool view = false;    ///< kFixedLen, one byte string: the column points into the records; see Column
  bool sparse = false;  ///< kVarLen: adapters hand out a sparse tensor, as TensorFlow's parse does
  ImageOptions image;   ///< kImage: how the file becomes pixels of `shape`, in the order of its layout
  /// One of the feature lists of a SequenceExample; else a feature of its context. Each step of a list is what a record is
  /// elsewhere: kFixedLenSequence is dense [batch, longest, *shape] padded with 0 or "", kVarLen ragged [batch, None, None],
  /// kRagged ragged [batch, None, …]. Other kinds than these and kListLength are in no list.
  bool feature_list = false;
  /// Applied in this order while the values are stored; docs/guides/transforms.md has what goes where.
  std::vector<Transform> transforms;

  const std::string& wire_key() const { return key.empty() ? name : key; }
  /// Whether only the record knows its shape; of kTensor and kRaw.
  bool has_unknown_dims() const;
};

/// What the transforms of a feature make of its column.
struct ColumnType {
  DType dtype = DType::kFloat32;
  Shape shape;                  ///< per record; per step or value where their number varies
  std::int64_t limit = -1;      ///< steps or values of a record that are kept at most; -1: all
  std::int64_t most = -1;       ///< a record with more of them does not fit; -1: any number does
  bool padded = false;          ///< the column is dense: [batch, n, *shape]
  std::int64_t padded_to = -1;  ///< then n; -1: the most that a record of the batch has
};
/// kInvalidArgument naming feature and transform when one of them makes no sense where it stands.
Result<ColumnType> column_type(const Feature& feature);

/// A column that tells of the rows, not of what is in the records; a scalar for each.
struct RowColumn {
  std::string name;
  DType dtype = DType::kInt64;
};

struct Schema {
  std::vector<Feature> features;  ///< in the order in which columns are delivered
  bool origin = false;            ///< add int64 columns `_shard` and `_record` to every row
  bool index = false;             ///< add an int64 column `_index` with what enumerate() counted; needs a pipeline
  bool mask = false;              ///< add a bool column `_mask`, true where a row is no padding; needs a pipeline
  bool sequence = false;          ///< records are tf.train.SequenceExamples, else tf.train.Examples

  /// The columns behind those of the features: `_shard`, `_record`, `_index`, `_mask`.
  std::vector<RowColumn> row_columns() const;
  /// Whether columns point into the records.
  bool has_views() const;
  /// Ok, or kInvalidArgument naming feature and value.
  Status validate() const;
};

}  // namespace headrace

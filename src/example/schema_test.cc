#include "headrace/schema.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

// "" when the schema is fine, else the text.
std::string refusal(std::vector<Feature> features, bool origin = false) {
  const Status status = Schema{.features = std::move(features), .origin = origin}.validate();
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  return status.message();
}

#define EXPECT_REFUSED(features, text) EXPECT_NE(refusal features.find(text), std::string::npos) << refusal features

Feature fixed(std::string name, DType dtype, Shape shape = {}) {
  return {.name = std::move(name), .kind = FeatureKind::kFixedLen, .dtype = dtype, .shape = std::move(shape)};
}
Feature of(FeatureKind kind, DType dtype, Shape shape = {}) {
  return {.name = "f", .kind = kind, .dtype = dtype, .shape = std::move(shape)};
}
Feature with_default(Feature feature, std::size_t bytes) {
  feature.has_default = true;
  feature.default_numeric.resize(bytes);
  return feature;
}
Feature ragged(std::vector<Partition> partitions) {
  Feature feature = of(FeatureKind::kRagged, DType::kInt64);
  feature.partitions = std::move(partitions);
  return feature;
}

TEST(Schema, TakesWhatTensorFlowTakes) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({fixed("a", DType::kInt64), fixed("b", DType::kFloat32, {2, 3}), fixed("c", DType::kBytes, {0}),
                     fixed("", DType::kInt64)}),
            "");
  EXPECT_EQ(refusal({of(FeatureKind::kVarLen, DType::kBytes)}), "");
  EXPECT_EQ(refusal({of(FeatureKind::kFixedLenSequence, DType::kInt64, {2})}), "");
  EXPECT_EQ(refusal({of(FeatureKind::kTensor, DType::kComplex64, {0, 3})}), "");
  EXPECT_EQ(refusal({of(FeatureKind::kRaw, DType::kUint8, {28, 28})}), "");
  EXPECT_EQ(refusal({ragged({{PartitionKind::kRowSplits, "splits", 0}, {PartitionKind::kUniformRowLength, "", 2}})}),
            "");
}

TEST(Schema, NamesFeatureAndValue) {
  EXPECT_REFUSED(({fixed("image", DType::kFloat64)}), "\"image\"");
  EXPECT_REFUSED(({fixed("image", DType::kFloat64)}), "float64 is not in the list of allowed values");
  EXPECT_REFUSED(({fixed("a", DType::kInt64, {-1})}), "Consider using FixedLenSequenceFeature");
  EXPECT_REFUSED(({fixed("a", DType::kInt64, {2, -1})}), "[2, -1] need to be known");
  EXPECT_REFUSED(({fixed("a", DType::kInt64, {std::int64_t{1} << 62, 4})}), "too many elements");
  EXPECT_REFUSED(({of(FeatureKind::kVarLen, DType::kInt32)}), "int32");
  EXPECT_REFUSED(({of(FeatureKind::kRaw, DType::kBytes)}), "bytes");
  EXPECT_REFUSED(({of(FeatureKind::kVarLen, DType::kInt64, {2})}), "[2]");
  EXPECT_REFUSED(({of(FeatureKind::kFixedLenSequence, DType::kInt64, {2, 0})}), "no elements");
  EXPECT_REFUSED(({fixed("a", DType::kInt64), fixed("a", DType::kInt64)}), "twice");
  EXPECT_REFUSED(({fixed("_shard", DType::kInt64)}, true), "origin");
  EXPECT_REFUSED(({of(static_cast<FeatureKind>(77), DType::kInt64)}), "unknown kind");
  EXPECT_REFUSED(({of(FeatureKind::kFixedLen, static_cast<DType>(99))}), "unknown dtype");
}

TEST(Schema, DefaultsMustFit) {
  EXPECT_EQ(refusal({with_default(fixed("a", DType::kInt64), 8)}), "");
  EXPECT_EQ(refusal({with_default(fixed("a", DType::kInt64, {2}), 8)}), "");
  EXPECT_EQ(refusal({with_default(fixed("a", DType::kInt64, {2}), 16)}), "");
  EXPECT_EQ(refusal({with_default(fixed("a", DType::kInt64, {0}), 0)}), "");
  EXPECT_REFUSED(({with_default(fixed("a", DType::kInt64, {3}), 16)}), "2 elements, expected 1 or 3");
  EXPECT_REFUSED(({with_default(fixed("a", DType::kInt64, {3}), 0)}), "0 elements");
  EXPECT_REFUSED(({with_default(fixed("a", DType::kInt64), 4)}), "4 bytes");
  EXPECT_REFUSED(({with_default(fixed("a", DType::kBytes), 8)}), "not of dtype bytes");
  EXPECT_REFUSED(({with_default(of(FeatureKind::kVarLen, DType::kInt64), 8)}), "default_value");
  EXPECT_EQ(refusal({with_default(of(FeatureKind::kFixedLenSequence, DType::kInt64, {2}), 8)}), "");
  EXPECT_REFUSED(({with_default(of(FeatureKind::kFixedLenSequence, DType::kInt64, {2}), 16)}),
                 "2 elements, expected 1");
  Feature text = fixed("a", DType::kBytes, {2});
  text.has_default = true;
  text.default_bytes = {"x", "y"};
  EXPECT_EQ(refusal({text}), "");
  text.default_bytes = {"x", "y", "z"};
  EXPECT_REFUSED(({text}), "3 elements");
}

TEST(Schema, OptionsBelongToTheirKinds) {
  Feature sequence = of(FeatureKind::kFixedLenSequence, DType::kInt64);
  sequence.allow_missing = false;
  EXPECT_REFUSED(({sequence}), "requires allow_missing to be True");
  Feature sparse = fixed("a", DType::kInt64);
  sparse.sparse = true;
  EXPECT_REFUSED(({sparse}), "sparse");
  Feature reshaped = of(FeatureKind::kRaw, DType::kUint8);
  reshaped.reshape = true;
  EXPECT_REFUSED(({reshaped}), "reshape");
  Feature splits = ragged({});
  splits.row_splits_dtype = DType::kFloat32;
  EXPECT_REFUSED(({splits}), "row_splits_dtype");
  EXPECT_REFUSED(({ragged({{PartitionKind::kUniformRowLength, "", 0}})}), "uniform_row_length is 0");
  Feature partitioned = fixed("a", DType::kInt64);
  partitioned.partitions = {{PartitionKind::kRowSplits, "s", 0}};
  EXPECT_REFUSED(({partitioned}), "partitions");
}

TEST(Schema, StacksAndJaggedFeaturesNameTheirKeys) {
  const auto wide = [](FeatureKind kind, DType dtype, std::vector<std::string> keys, Shape shape) {
    Feature feature = of(kind, dtype, std::move(shape));
    feature.keys = std::move(keys);
    return feature;
  };
  EXPECT_EQ(refusal({wide(FeatureKind::kStack, DType::kFloat32, {"a", "b"}, {2})}), "");
  EXPECT_EQ(refusal({with_default(wide(FeatureKind::kStack, DType::kInt64, {"a", "b"}, {2}), 16)}), "");
  EXPECT_EQ(refusal({wide(FeatureKind::kJagged, DType::kBytes, {"a", "b"}, {})}), "");
  EXPECT_REFUSED(({wide(FeatureKind::kStack, DType::kInt64, {}, {0})}), "at least one");
  EXPECT_REFUSED(({wide(FeatureKind::kJagged, DType::kInt64, {}, {})}), "at least one");
  EXPECT_REFUSED(({wide(FeatureKind::kStack, DType::kInt64, {"a", "a"}, {2})}), "\"a\" is there twice");
  EXPECT_REFUSED(({wide(FeatureKind::kStack, DType::kInt64, {"a", "b"}, {3})}), "shape [3] is not that of 2 keys");
  EXPECT_REFUSED(({wide(FeatureKind::kStack, DType::kBytes, {"a"}, {1})}), "int64 or float32");
  EXPECT_REFUSED(({wide(FeatureKind::kJagged, DType::kFloat64, {"a"}, {})}), "float64");
  EXPECT_REFUSED(({wide(FeatureKind::kFixedLen, DType::kInt64, {"a"}, {})}), "keys are for");
  EXPECT_REFUSED(({with_default(wide(FeatureKind::kStack, DType::kInt64, {"a", "b", "c"}, {3}), 16)}), "default_value");
  EXPECT_REFUSED(({with_default(wide(FeatureKind::kJagged, DType::kInt64, {"a"}, {}), 8)}), "default_value");
  EXPECT_REFUSED(({wide(FeatureKind::kJagged, DType::kInt64, {"a"}, {}), fixed("a", DType::kInt64)}), "two ways");
}

TEST(Schema, UnknownDimensions) {
  const auto reshaped = [](Feature feature) {
    feature.reshape = true;
    return feature;
  };
  Feature any = of(FeatureKind::kTensor, DType::kInt64);
  any.unknown_rank = true;
  EXPECT_EQ(refusal({any}), "");
  EXPECT_EQ(refusal({of(FeatureKind::kTensor, DType::kInt64, {-1, 0, -1})}), "");
  EXPECT_EQ(refusal({of(FeatureKind::kRaw, DType::kInt16, {2, -1})}), "");
  EXPECT_EQ(refusal({reshaped(of(FeatureKind::kTensor, DType::kInt64, {-1, 3}))}), "");
  EXPECT_REFUSED(({reshaped(any)}), "unknown rank");
  Feature raw = of(FeatureKind::kRaw, DType::kInt16);
  raw.unknown_rank = true;
  EXPECT_REFUSED(({raw}), "unknown rank");
  EXPECT_REFUSED(({of(FeatureKind::kTensor, DType::kInt64, {-2})}), "unknown");
  EXPECT_REFUSED(({of(FeatureKind::kRaw, DType::kInt16, {-1, -1})}), "more than one unknown dimension");
  EXPECT_REFUSED(({of(FeatureKind::kRaw, DType::kInt16, {-1, 0})}), "could be any");
  EXPECT_REFUSED(({reshaped(of(FeatureKind::kTensor, DType::kInt16, {-1, -1}))}), "more than one unknown dimension");
  EXPECT_REFUSED(({of(FeatureKind::kTensor, DType::kInt16, Shape{-1, -1, -1, -1, -1, -1, -1, -1, -1})}),
                 "more than 8 of them");
  EXPECT_REFUSED(({of(FeatureKind::kTensor, DType::kInt16, {-1, std::int64_t{1} << 62, 4})}), "too many elements");
  EXPECT_REFUSED(({with_default(of(FeatureKind::kTensor, DType::kInt64, {-1}), 8)}), "where none is taken");
  Feature padded = with_default(of(FeatureKind::kTensor, DType::kInt64, {-1, 2}), 8);
  padded.unknown_dims = UnknownDims::kPadded;
  EXPECT_EQ(refusal({padded}), "");
  padded.default_numeric.resize(16);
  EXPECT_REFUSED(({padded}), "2 elements, expected 1");
  padded.unknown_dims = static_cast<UnknownDims>(0);
  EXPECT_REFUSED(({padded}), "unknown_dims");
}

TEST(Schema, FixedLength) {
  Feature raw = of(FeatureKind::kRaw, DType::kInt16, {2});
  raw.fixed_length = 4;
  EXPECT_EQ(refusal({raw}), "");
  raw.fixed_length = 5;
  EXPECT_REFUSED(({raw}), "fixed_length (5) must be a multiple of the size of out_type (2)");
  raw.fixed_length = 6;
  EXPECT_REFUSED(({raw}), "fixed_length (6) is not the size of shape [2] of int16");
  raw.fixed_length = -2;
  EXPECT_REFUSED(({raw}), "fixed_length (-2) must be greater than zero.");
  Feature tensor = of(FeatureKind::kTensor, DType::kInt16, {2});
  tensor.fixed_length = 4;
  EXPECT_REFUSED(({tensor}), "RawFeature only");
}

TEST(Schema, UsesOfAKeyMustAgree) {
  Feature dense = fixed("dense", DType::kInt64);
  dense.key = "k";
  Feature sparse = of(FeatureKind::kVarLen, DType::kInt64);
  sparse.key = "k";
  EXPECT_REFUSED(({dense, sparse}), "must not intersect");
  Feature other = fixed("other", DType::kFloat32);
  other.key = "k";
  EXPECT_REFUSED(({dense, other}), "int64 and as float32");
  other.dtype = DType::kInt64;
  EXPECT_EQ(refusal({dense, other}), "");
  Feature tensor = of(FeatureKind::kTensor, DType::kFloat32, {2});
  Feature raw = of(FeatureKind::kRaw, DType::kUint8, {16});
  raw.name = "raw";
  raw.key = "f";
  EXPECT_EQ(refusal({tensor, raw}), "");
  EXPECT_REFUSED(({dense, ragged({{PartitionKind::kRowSplits, "k", 0}})}), "must not intersect");
}

TEST(Schema, SparseFeatures) {
  const auto sparse = [](std::vector<SparseIndex> indices) {
    Feature feature = of(FeatureKind::kSparse, DType::kFloat32);
    feature.indices = std::move(indices);
    return feature;
  };
  EXPECT_EQ(refusal({sparse({{"i", 1}, {"j", 9}})}), "");
  EXPECT_REFUSED(({sparse({})}), "at least one index_key");
  EXPECT_REFUSED(({sparse({{"i", 0}})}), "size of index_key \"i\" is 0");
  EXPECT_REFUSED(({sparse({{"f", 3}})}), "asked for as float32 and as int64");
  Feature shaped = sparse({{"i", 3}});
  shaped.shape = {2};
  EXPECT_REFUSED(({shaped}), "shape [2] where none is taken");
  EXPECT_REFUSED(({sparse({{"x", 3}}), fixed("x", DType::kInt64)}), "must not intersect");
  Feature dense = fixed("f", DType::kInt64);
  dense.indices = {{"i", 3}};
  EXPECT_REFUSED(({dense}), "SparseFeature only");
  dense = fixed("f", DType::kInt64);
  dense.already_sorted = true;
  EXPECT_REFUSED(({dense}), "SparseFeature only");
}

}  // namespace
}  // namespace headrace

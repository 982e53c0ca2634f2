// A serialized Example, parsed by schemas of every kind of feature. The input is the record.
#include <string>
#include <vector>

#include "fuzz/parse_record.h"

namespace headrace {
namespace {

using testing::fixed;
using testing::list_of;
using testing::transformed;
using testing::with_default;

Feature ragged(std::string name, DType dtype, std::vector<Partition> partitions) {
  Feature feature = list_of(FeatureKind::kRagged, std::move(name), dtype);
  feature.partitions = std::move(partitions);
  return feature;
}

Feature tensor(DType dtype, Shape shape, UnknownDims unknown = UnknownDims::kRagged) {
  Feature feature = list_of(FeatureKind::kTensor, "t", dtype, std::move(shape));
  feature.unknown_dims = unknown;
  return feature;
}

Feature raw(DType dtype, Shape shape, bool little_endian, std::int64_t fixed_length = 0) {
  Feature feature = list_of(FeatureKind::kRaw, "t", dtype, std::move(shape));
  feature.little_endian = little_endian;
  feature.fixed_length = fixed_length;
  return feature;
}

Feature sparse(DType dtype, std::vector<SparseIndex> indices) {
  Feature feature = list_of(FeatureKind::kSparse, "sparse", dtype);
  feature.key = "vb";
  feature.indices = std::move(indices);
  return feature;
}

Feature reshaped(Feature feature) {
  feature.reshape = true;
  return feature;
}

Feature any_shape(DType dtype, UnknownDims unknown) {
  Feature feature = tensor(dtype, {}, unknown);
  feature.unknown_rank = true;
  return feature;
}

// What may be absent goes into one schema; what every record must have gets one each, so that one failure hides no other.
std::vector<Schema> schemas() {
  std::vector<Schema> all = {{.features = {
                                  with_default<std::int64_t>(fixed("i", DType::kInt64), {7}),
                                  with_default<float>(fixed("f", DType::kFloat32), {0.5F}),
                                  list_of(FeatureKind::kVarLen, "vi", DType::kInt64),
                                  list_of(FeatureKind::kVarLen, "vf", DType::kFloat32),
                                  list_of(FeatureKind::kVarLen, "vb", DType::kBytes),
                                  list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2}),
                                  list_of(FeatureKind::kFixedLenSequence, "s", DType::kBytes),
                              }}};
  all.push_back({.features = {
                     transformed(with_default<std::int64_t>(fixed("i", DType::kInt64), {7}),
                                 {Clip{std::int64_t{-9}, std::int64_t{9}}, Mod{5}, OneHot{3, DType::kInt8}}),
                     transformed(list_of(FeatureKind::kVarLen, "vi", DType::kInt64), {Truncate{3}, HashBucket{7}}),
                     transformed(list_of(FeatureKind::kVarLen, "vf", DType::kFloat32),
                                 {FillNan{1}, Pad{3}, Normalize{{1, 2, 3}, {2}}, Cast{DType::kBfloat16}}),
                     transformed(list_of(FeatureKind::kVarLen, "vb", DType::kBytes), {Pad{2, "none"}}),
                     transformed(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2}),
                                 {Cast{DType::kFloat32}, Scale{{1, 2}, {0}}, Log1p{}, Bucketize{{0, 1}}}),
                     transformed(list_of(FeatureKind::kFixedLenSequence, "s", DType::kBytes),
                                 {Lookup{.strings = {"", "a"}, .num_oov_buckets = 3}}),
                 }});
  for (const PartitionKind kind : {PartitionKind::kRowSplits, PartitionKind::kRowLengths, PartitionKind::kRowStarts,
                                   PartitionKind::kRowLimits, PartitionKind::kValueRowIds}) {
    all.push_back(
        {.features = {ragged("r", DType::kInt64, {{kind, "p", 0}}),
                      ragged("n", DType::kFloat32, {{kind, "p", 0}, {PartitionKind::kUniformRowLength, "", 2}}),
                      ragged("u", DType::kBytes, {{PartitionKind::kUniformRowLength, "", 2}, {kind, "p", 0}})}});
  }
  for (const Feature& feature : {
           fixed("i", DType::kInt64, {2}),
           fixed("f", DType::kFloat32, {3}),
           fixed("b", DType::kBytes),
           fixed("b", DType::kBytes, {2}),
           tensor(DType::kFloat32, {2, 2}),
           tensor(DType::kBytes, {2}),
           tensor(DType::kInt32, {-1, 2}),
           tensor(DType::kFloat16, {-1, -1}, UnknownDims::kPadded),
           tensor(DType::kBytes, {2, -1}, UnknownDims::kPadded),
           tensor(DType::kBytes, {-1}),
           reshaped(tensor(DType::kUint8, {3, -1})),
           any_shape(DType::kBool, UnknownDims::kRagged),
           any_shape(DType::kFloat8E5m2, UnknownDims::kEqual),
           any_shape(DType::kComplex64, UnknownDims::kPadded),
           raw(DType::kInt16, {2}, true),
           raw(DType::kComplex64, {-1}, false),
           raw(DType::kBool, {-1, 2}, true),
           raw(DType::kInt32, {2}, false, 8),
           sparse(DType::kBytes, {{"vi", 400}, {"r", 4}}),
           transformed(sparse(DType::kBytes, {{"vi", 400}}), {Lookup{.strings = {"one"}, .oov_fails = true}}),
           transformed(fixed("i", DType::kInt64, {2}), {Cast{DType::kUint8}}),
           transformed(fixed("f", DType::kFloat32, {3}), {Cast{DType::kInt16}}),
           transformed(list_of(FeatureKind::kVarLen, "vi", DType::kInt64), {Cast{DType::kInt8}}),
           transformed(tensor(DType::kBytes, {2}), {HashBucket{9}}),
           transformed(tensor(DType::kFloat16, {-1, -1}, UnknownDims::kPadded), {Cast{DType::kInt32}}),
           transformed(tensor(DType::kBytes, {-1}), {Lookup{.strings = {""}, .oov_fails = true}}),
           transformed(raw(DType::kInt16, {-1}, false), {OneHot{4, DType::kUint8}}),
       }) {
    all.push_back({.features = {feature}});
  }
  return all;
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto parsers = headrace::fuzz::make_parsers(headrace::schemas());
  const std::string record(reinterpret_cast<const char*>(data), size);
  for (const auto& parser : parsers) headrace::fuzz::parse_alone_and_together(*parser, record);
  return 0;
}

// A serialized SequenceExample, parsed by schemas of every kind of feature list. The input is the record.
#include <string>
#include <vector>

#include "fuzz/parse_record.h"

namespace headrace {
namespace {

using testing::fixed;
using testing::in_list;
using testing::list_of;
using testing::transformed;
using testing::with_default;

Feature length_of(const std::string& key) {
  Feature feature = in_list(list_of(FeatureKind::kListLength, key + "_lengths", DType::kInt64));
  feature.key = key;
  return feature;
}

Feature ragged(std::string name, DType dtype, std::vector<Partition> partitions) {
  Feature feature = in_list(list_of(FeatureKind::kRagged, std::move(name), dtype));
  feature.partitions = std::move(partitions);
  return feature;
}

Feature required(Feature feature) {
  feature.allow_missing = false;
  return feature;
}

// What fits most records goes into one schema; what fails more of them gets one each, so that one failure hides no other.
std::vector<Schema> schemas() {
  std::vector<std::vector<Feature>> all = {
      {with_default<std::int64_t>(fixed("i", DType::kInt64), {7}), list_of(FeatureKind::kVarLen, "vb", DType::kBytes),
       in_list(list_of(FeatureKind::kVarLen, "vi", DType::kInt64)),
       in_list(list_of(FeatureKind::kVarLen, "vf", DType::kFloat32)), ragged("s", DType::kBytes, {})},
      {in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2})), length_of("q")},
      {in_list(list_of(FeatureKind::kFixedLenSequence, "f", DType::kFloat32)), length_of("f")},
      {transformed(in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2})),
                   {Cast{DType::kFloat32}, Scale{{1, 2}, {3}}, Cast{DType::kFloat16}})},
      {transformed(in_list(list_of(FeatureKind::kVarLen, "vi", DType::kInt64)), {Cast{DType::kInt8}})},
      {transformed(ragged("s", DType::kBytes, {}), {Lookup{.strings = {"text"}}, OneHot{1, DType::kBool}})},
      {required(in_list(list_of(FeatureKind::kFixedLenSequence, "b", DType::kBytes, {1})))},
  };
  for (const PartitionKind kind : {PartitionKind::kRowSplits, PartitionKind::kRowLengths, PartitionKind::kRowStarts,
                                   PartitionKind::kRowLimits, PartitionKind::kValueRowIds}) {
    const Partition partition{kind, "p", 0};
    const Partition pairs{PartitionKind::kUniformRowLength, "", 2};
    all.push_back({ragged("r", DType::kInt64, {partition})});
    all.push_back({ragged("r", DType::kInt64, {partition, pairs})});
    all.push_back({ragged("r", DType::kInt64, {pairs, partition})});
  }
  std::vector<Schema> schemas;
  for (std::vector<Feature>& features : all) schemas.push_back({.features = std::move(features), .sequence = true});
  return schemas;
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto parsers = headrace::fuzz::make_parsers(headrace::schemas());
  const std::string record(reinterpret_cast<const char*>(data), size);
  for (const auto& parser : parsers) headrace::fuzz::parse_alone_and_together(*parser, record);
  return 0;
}

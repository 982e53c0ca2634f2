// A serialized Example, parsed by schemas of every kind of feature. The input is the record.
//
// Alone and as three rows on two replicas it must give the same values or the same failure. Records lie in memory of their
// own with exactly the padding behind them, columns in buffers of their own, so that a sanitizer sees every step aside.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/same_column.h"
#include "tensor/parse_testing.h"

namespace headrace {
namespace {

using testing::fixed;
using testing::list_of;
using testing::run_parser;
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
       }) {
    all.push_back({.features = {feature}});
  }
  return all;
}

std::vector<std::unique_ptr<BatchParser>> make_parsers() {
  std::vector<std::unique_ptr<BatchParser>> parsers;
  for (const Schema& schema : schemas()) {
    fuzz::require(schema.validate().ok());
    parsers.push_back(make_example_parser(schema, std::make_shared<BufferPool>()));
  }
  return parsers;
}

void parse(BatchParser& parser, const std::string& record) {
  const Result<std::vector<Slice>> one = run_parser(parser, {record}, {1});
  const Result<std::vector<Slice>> three = run_parser(parser, {record, record, record}, {1, 2});
  // Three rows may be padded beyond the limit where one is not.
  if (!three.ok() && three.status().code() == StatusCode::kResourceExhausted) return;
  fuzz::require(one.ok() == three.ok());
  if (!one.ok()) {
    fuzz::require(one.status().message() == three.status().message());
    return;
  }
  const std::vector<Column>& alone = (*one)[0].columns;
  const std::vector<Column>& first = (*three)[0].columns;
  fuzz::require(alone.size() == first.size());
  for (std::size_t i = 0; i < alone.size(); ++i) fuzz::require_same(alone[i], first[i]);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto parsers = headrace::make_parsers();
  const std::string record(reinterpret_cast<const char*>(data), size);
  for (const auto& parser : parsers) headrace::parse(*parser, record);
  return 0;
}

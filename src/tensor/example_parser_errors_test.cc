// What does not fit: the lowest row's failure, there the first feature's, in TensorFlow's words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Status failure_of(const Schema& schema, const std::vector<std::string>& records, std::int64_t rows_per_task = 64) {
  return parse(schema, records, {static_cast<std::int64_t>(records.size())}, rows_per_task).status();
}
void expect_mismatch(const Status& status, const std::string& text, const std::string& key, std::int64_t row) {
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr(text));
  EXPECT_EQ(status.where().key, key);
  EXPECT_EQ(status.where().row, row);
}

TEST(ParseErrors, MissingKeyListsTheNearest) {
  const Schema schema{.features = {fixed("label", DType::kInt64)}};
  const Status status = failure_of(schema, {ints("label", {1}), ints("lable", {1}) + ints("image_height", {2})});
  expect_mismatch(status, "Feature: label (data type: int64) is required but could not be found.", "label", 1);
  EXPECT_THAT(status.message(), HasSubstr("'lable', 'image_height'"));
  expect_mismatch(failure_of(schema, {""}), "The record has no features.", "label", 0);
  expect_mismatch(failure_of(schema, {without_kind("label")}), "is required", "label", 0);

  std::string wide;
  for (int i = 0; i < 300; ++i) wide += ints("feature_" + std::to_string(i), {i});
  const Status bounded = failure_of(schema, {wide + ints("labels", {1})});
  expect_mismatch(bounded, "Nearest keys of the record:", "label", 0);
  EXPECT_LT(bounded.message().size(), 700U);
}

TEST(ParseErrors, SequenceExampleGetsAHint) {
  const std::string sequence = ints("id", {1}) + field(2, field(1, field(1, "steps") + field(2, "")));
  expect_mismatch(failure_of({.features = {fixed("steps", DType::kInt64)}}, {sequence}), "SequenceExample", "steps", 0);
}

TEST(ParseErrors, Counts) {
  const Schema scalar{.features = {fixed("a", DType::kInt64)}};
  const Status status = failure_of(scalar, {ints("a", {1, 2})});
  expect_mismatch(status, "Number of int64 values != expected. Values size: 2 but output shape: []", "a", 0);
  EXPECT_EQ(status.where().expected, "1 values");
  EXPECT_EQ(status.where().found, "2 values");
  expect_mismatch(
      failure_of({.features = {with_default<std::int64_t>(fixed("a", DType::kInt64), {3})}}, {ints("a", {})}),
      "Values size: 0 but output shape: []", "a", 0);
  expect_mismatch(failure_of({.features = {fixed("w", DType::kFloat32, {2, 2})}}, {floats("w", {1, 2, 3})}),
                  "Number of float values != expected. Values size: 3 but output shape: [2,2]", "w", 0);
  expect_mismatch(failure_of({.features = {fixed("s", DType::kBytes)}}, {strings("s", {"a", "b"})}),
                  "Number of bytes values != expected. Values size: 2 but output shape: []", "s", 0);
  expect_mismatch(failure_of({.features = {list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2})}},
                             {ints("q", {1, 2, 3})}),
                  "Number of int64 values is not a multiple of stride length. Saw 3 values but output shape is: [?,2]",
                  "q", 0);
}

TEST(ParseErrors, ThousandUnpackedFloatsWhereTwoAreAskedFor) {
  std::string list;
  for (int i = 0; i < 1000; ++i) list += "\x0D" + bits(static_cast<float>(i));
  expect_mismatch(failure_of({.features = {fixed("w", DType::kFloat32, {2})}}, {feature("w", ListKind::kFloat, list)}),
                  "Values size: 1000 but output shape: [2]", "w", 0);
}

TEST(ParseErrors, Kinds) {
  expect_mismatch(failure_of({.features = {fixed("a", DType::kInt64)}}, {floats("a", {1})}),
                  "Data types don't match. Data type: float but expected type: int64", "a", 0);
  expect_mismatch(failure_of({.features = {fixed("a", DType::kFloat32)}}, {strings("a", {})}),
                  "Data type: string but expected type: float", "a", 0);
  expect_mismatch(failure_of({.features = {fixed("a", DType::kBytes)}}, {ints("a", {1})}),
                  "Data type: int64 but expected type: string", "a", 0);
  expect_mismatch(failure_of({.features = {list_of(FeatureKind::kVarLen, "a", DType::kInt64)}}, {floats("a", {})}),
                  "Data types don't match. Expected type: int64, Actual type: float", "a", 0);
  expect_mismatch(failure_of({.features = {list_of(FeatureKind::kTensor, "t", DType::kFloat32)}}, {ints("t", {1})}),
                  "Data type: int64 but expected type: string", "t", 0);
}

TEST(ParseErrors, MalformedListsAndRecords) {
  const std::string cut_floats = feature("a", ListKind::kFloat, field(1, "abcde"));
  expect_mismatch(failure_of({.features = {fixed("a", DType::kFloat32)}}, {cut_floats}),
                  "Can't parse serialized Example.", "a", 0);
  expect_mismatch(failure_of({.features = {list_of(FeatureKind::kVarLen, "a", DType::kFloat32)}}, {cut_floats}),
                  "Can't parse serialized Example.", "a", 0);
  expect_mismatch(failure_of({.features = {list_of(FeatureKind::kVarLen, "a", DType::kInt64)}},
                             {feature("a", ListKind::kInt64, field(1, "\x01\xFF"))}),
                  "Can't parse serialized Example.", "a", 0);
  const Status garbage = failure_of({.features = {fixed("a", DType::kInt64)}}, {ints("a", {1}), "\x0A\xFF garbage"});
  EXPECT_EQ(garbage.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(garbage.where().row, 1);
  EXPECT_THAT(garbage.to_string(), Not(HasSubstr("garbage")));
}

TEST(ParseErrors, Tensors) {
  const Feature floats2 = list_of(FeatureKind::kTensor, "t", DType::kFloat32, {2});
  const Schema schema{.features = {floats2}};
  const std::vector<std::uint8_t> eight(8);
  const std::string doubles = *make_tensor_proto(DType::kFloat64, {1}, eight);
  expect_mismatch(failure_of(schema, {strings("t", {doubles})}),
                  "Type mismatch between parsed tensor (float64) and dtype (float32)", "t", 0);
  const std::string column = *make_tensor_proto(DType::kFloat32, {2, 1}, eight);
  const Status shape = failure_of(schema, {strings("t", {column})});
  expect_mismatch(shape, "Shape mismatch", "t", 0);
  EXPECT_EQ(shape.where().expected, "float32 [2]");
  EXPECT_EQ(shape.where().found, "float32 [2,1]");
  expect_mismatch(failure_of(schema, {strings("t", {std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8)})}),
                  "RawFeature", "t", 0);
  expect_mismatch(failure_of(schema, {strings("t", {column, column})}), "Values size: 2 but output shape: []", "t", 0);
  expect_mismatch(failure_of(schema, {strings("t", {"\x08\x01\x12"})}), "", "t", 0);
  expect_mismatch(failure_of(schema, {""}), "Feature: t (data type: string) is required", "t", 0);
}

TEST(ParseErrors, RawLengths) {
  const Schema schema{.features = {list_of(FeatureKind::kRaw, "r", DType::kInt16, {2})}};
  const Status odd = failure_of(schema, {strings("r", {"abc"})});
  expect_mismatch(odd, "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16", "r", 0);
  expect_mismatch(failure_of(schema, {strings("r", {"abcdef"})}), "has length 6, expected 4", "r", 0);
  const std::vector<std::uint8_t> four(4);
  const std::string proto = *make_tensor_proto(DType::kInt16, {2}, four);
  if (proto.size() % 2 == 0) {
    expect_mismatch(failure_of(schema, {strings("r", {proto})}), "TensorFeature", "r", 0);
  }
}

TEST(ParseErrors, Partitions) {
  const auto with = [](PartitionKind kind) {
    Feature ragged = list_of(FeatureKind::kRagged, "v", DType::kInt64);
    ragged.partitions = {{.kind = kind, .key = "p"}};
    return Schema{.features = {ragged}};
  };
  const std::string values = ints("v", {1, 2, 3});
  const std::string invalid = "do not form a valid RaggedTensor";
  struct Case {
    PartitionKind kind;
    std::initializer_list<std::int64_t> partition;
  };
  for (const Case& c : {Case{PartitionKind::kRowSplits, {0, 2}}, Case{PartitionKind::kRowSplits, {1, 3}},
                        Case{PartitionKind::kRowSplits, {0, 5, 3}}, Case{PartitionKind::kRowSplits, {0, 1 << 30}},
                        Case{PartitionKind::kRowLengths, {4}}, Case{PartitionKind::kRowLengths, {4, -1}},
                        Case{PartitionKind::kRowLengths, {INT64_MAX, INT64_MAX}},
                        Case{PartitionKind::kRowStarts, {0, 4}}, Case{PartitionKind::kRowStarts, {1}},
                        Case{PartitionKind::kRowLimits, {2}}, Case{PartitionKind::kRowLimits, {-1, 3}},
                        Case{PartitionKind::kValueRowIds, {0, 0}}, Case{PartitionKind::kValueRowIds, {0, 1, 0}},
                        Case{PartitionKind::kValueRowIds, {0, 0, INT64_MAX}}, Case{PartitionKind::kRowSplits, {}}}) {
    expect_mismatch(failure_of(with(c.kind), {values + ints("p", c.partition)}), invalid, "p", 0);
  }
  expect_mismatch(failure_of(with(PartitionKind::kRowLengths), {values}), "absent", "p", 0);
  expect_mismatch(failure_of(with(PartitionKind::kRowLengths), {values + floats("p", {3})}),
                  "Data types don't match. Expected type: int64, Actual type: float", "p", 0);
  Feature uniform = list_of(FeatureKind::kRagged, "v", DType::kInt64);
  uniform.partitions = {{.kind = PartitionKind::kUniformRowLength, .row_length = 2}};
  expect_mismatch(failure_of({.features = {uniform}}, {values}), "multiple of 2", "v", 0);
}

// Rows 70 (second feature), 150 (both) and 199 are bad: always row 70, whatever the number of tasks.
TEST(ParseErrors, TheLowestRowWinsAtAnyNumberOfTasks) {
  const Schema schema{.features = {fixed("a", DType::kInt64), list_of(FeatureKind::kVarLen, "n", DType::kInt64),
                                   fixed("x", DType::kFloat32)}};
  const std::string good = ints("a", {1}) + floats("x", {1}) + ints("n", {1, 2});
  std::vector<std::string> records(200, good);
  records[70] = ints("a", {1}) + floats("x", {1}) + floats("n", {1});
  records[150] = floats("n", {1});
  records[199] = "";
  const std::string expected = failure_of(schema, records, 1000).to_string();
  for (const std::int64_t rows_per_task : {64, 128, 192}) {
    const Status status = failure_of(schema, records, rows_per_task);
    expect_mismatch(status, "Data types don't match", "n", 70);
    EXPECT_EQ(status.to_string(), expected);
  }
  records[70] = good;
  expect_mismatch(failure_of(schema, records), "Feature: a", "a", 150);  // first in schema order
}

TEST(ParseErrors, RowsAndReplicasMustAgree) {
  const Schema schema{.features = {fixed("a", DType::kInt64)}};
  EXPECT_EQ(parse(schema, {ints("a", {1})}, {2}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(parse({.features = {}, .origin = true}, {""}, {1}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace headrace::testing

// Feature lists of SequenceExamples: dense and padded, ragged, with partitions inside a step.
#include "tensor/list_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Schema sequences(std::vector<Feature> features) { return {.features = std::move(features), .sequence = true}; }
Feature steps(DType dtype, Shape shape = {}) {
  return in_list(list_of(FeatureKind::kFixedLenSequence, "q", dtype, std::move(shape)));
}
Feature length_of(const std::string& key) {
  Feature feature = in_list(list_of(FeatureKind::kListLength, key + "_lengths", DType::kInt64));
  feature.key = key;
  return feature;
}
Feature varlen(DType dtype) { return in_list(list_of(FeatureKind::kVarLen, "q", dtype)); }
Feature ragged(std::vector<Partition> partitions) {
  Feature feature = in_list(list_of(FeatureKind::kRagged, "r", DType::kInt64));
  feature.key = "v";
  feature.partitions = std::move(partitions);
  return feature;
}
/// A record of one list "q".
std::string only(std::string_view list) { return feature_lists(list_entry("q", list)); }

Slice parse_one(const Schema& schema, const std::vector<std::string>& records) {
  EXPECT_TRUE(schema.validate().ok()) << schema.validate().to_string();
  auto slices = parse(schema, records, {static_cast<std::int64_t>(records.size())});
  EXPECT_TRUE(slices.ok()) << slices.status().to_string();
  return slices.ok() ? slices->at(0) : Slice{.rows = 0, .columns = {Column{}}};
}
void expect_mismatch(const Schema& schema, const std::string& record, const std::string& text, const std::string& key) {
  const Status status = parse(schema, {"", record}, {2}).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr(text));
  EXPECT_EQ(status.where().key, key);
  EXPECT_EQ(status.where().row, 1);
}

TEST(ListColumn, DenseListsArePaddedAndCounted) {
  const Schema schema = sequences({fixed("id", DType::kInt64), steps(DType::kFloat32, {2}), length_of("q")});
  const Slice slice =
      parse_one(schema, {ints("id", {7}) + only(float_step({1, 2})),
                         ints("id", {8}) + only(float_step({3, 4}) + float_step({5, 6})), ints("id", {9})});
  EXPECT_THAT(values_of<std::int64_t>(slice.find("id")->values), ElementsAre(7, 8, 9));
  EXPECT_THAT(slice.find("q")->values.shape, ElementsAre(3, 2, 2));
  EXPECT_THAT(values_of<float>(slice.find("q")->values), ElementsAre(1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0));
  EXPECT_THAT(slice.find("q_lengths")->values.shape, ElementsAre(3));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("q_lengths")->values), ElementsAre(1, 2, 0));
}

TEST(ListColumn, DenseListsOfIntegersAndStrings) {
  const Slice integers = parse_one(sequences({steps(DType::kInt64)}), {only(int_step({5}) + int_step({-6})), only("")});
  EXPECT_THAT(values_of<std::int64_t>(integers.columns[0].values), ElementsAre(5, -6, 0, 0));
  const Slice texts = parse_one(sequences({steps(DType::kBytes)}),
                                {only(""), only(bytes_step({"ab"}) + bytes_step({""})), only(bytes_step({"c"}))});
  EXPECT_THAT(texts.columns[0].values.shape, ElementsAre(3, 2));
  EXPECT_THAT(strings_of(texts.columns[0]), ElementsAre("", "", "ab", "", "c", ""));
}

TEST(ListColumn, VarLenHasStepsOfAnyLength) {
  const Slice slice =
      parse_one(sequences({varlen(DType::kInt64)}),
                {only(int_step({1, 2}) + int_step({}) + field(1, "")), "", only(""), only(int_step({3}))});
  const Column& column = slice.columns[0];
  ASSERT_EQ(column.row_splits.size(), 2U);
  EXPECT_THAT(splits_of(column, 0), ElementsAre(0, 3, 3, 3, 4));
  EXPECT_THAT(splits_of(column, 1), ElementsAre(0, 2, 2, 2, 3));
  EXPECT_THAT(values_of<std::int64_t>(column.values), ElementsAre(1, 2, 3));
  const Slice texts =
      parse_one(sequences({varlen(DType::kBytes)}), {only(bytes_step({"a", "bc"}) + bytes_step({"d"}))});
  EXPECT_THAT(strings_of(texts.columns[0]), ElementsAre("a", "bc", "d"));
}

TEST(ListColumn, PartitionsInsideAStep) {
  const auto lists = [](std::string_view values, std::string_view partition) {
    return feature_lists(list_entry("v", values) + list_entry("p", partition));
  };
  const Schema schema = sequences({ragged({{.kind = PartitionKind::kRowLengths, .key = "p"}})});
  const Slice slice =
      parse_one(schema, {lists(int_step({1, 2, 3}) + int_step({4}), int_step({1, 2}) + int_step({0, 1})),
                         lists(int_step({}) + int_step({5}), field(1, "") + int_step({1}))});
  const Column& column = slice.columns[0];
  ASSERT_EQ(column.row_splits.size(), 3U);
  EXPECT_THAT(splits_of(column, 0), ElementsAre(0, 2, 4));           // steps
  EXPECT_THAT(splits_of(column, 1), ElementsAre(0, 2, 4, 4, 5));     // rows of each step
  EXPECT_THAT(splits_of(column, 2), ElementsAre(0, 1, 3, 3, 4, 5));  // values of each row
  EXPECT_THAT(values_of<std::int64_t>(column.values), ElementsAre(1, 2, 3, 4, 5));
}

TEST(ListColumn, UniformRowsInsideAStep) {
  const Slice inner = parse_one(sequences({ragged({{.kind = PartitionKind::kUniformRowLength, .row_length = 2}})}),
                                {feature_lists(list_entry("v", int_step({1, 2, 3, 4}) + int_step({5, 6})))});
  EXPECT_THAT(inner.columns[0].values.shape, ElementsAre(3, 2));
  EXPECT_THAT(splits_of(inner.columns[0], 1), ElementsAre(0, 2, 3));
  const Schema around = sequences({ragged(
      {{.kind = PartitionKind::kUniformRowLength, .row_length = 2}, {.kind = PartitionKind::kRowSplits, .key = "p"}})});
  const Slice outer =
      parse_one(around, {feature_lists(list_entry("v", int_step({1, 2, 3}) + int_step({})) +
                                       list_entry("p", int_step({0, 1, 3}) + int_step({0, 0, 0, 0, 0})))});
  EXPECT_THAT(splits_of(outer.columns[0], 0), ElementsAre(0, 2));
  EXPECT_THAT(splits_of(outer.columns[0], 1), ElementsAre(0, 1, 3));
  EXPECT_THAT(splits_of(outer.columns[0], 2), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(splits_of(outer.columns[0], 3), ElementsAre(0, 1, 3, 3, 3, 3, 3));
}

TEST(ListColumn, AContextFeatureAndAListMayShareAKey) {
  Feature context = list_of(FeatureKind::kVarLen, "context", DType::kBytes);
  context.key = "q";
  const Slice slice =
      parse_one(sequences({context, steps(DType::kInt64)}), {strings("q", {"x"}) + only(int_step({4}))});
  EXPECT_THAT(strings_of(slice.columns[0]), ElementsAre("x"));
  EXPECT_THAT(values_of<std::int64_t>(slice.columns[1].values), ElementsAre(4));
}

TEST(ListColumn, ListsInPiecesOutliveTheRecordsBehindThem) {
  std::vector<std::string> records;
  for (std::int64_t row = 0; row < 100; ++row) {
    const std::string pieces = field(2, int_step({row})) + field(2, int_step({1000 + row}));
    const std::string in_two = field(1, field(3, int_list({row})) + field(3, int_list({-1})));
    records.push_back(feature_lists(field(1, field(1, "q") + pieces) + list_entry("w", in_two)));
  }
  Feature joined = varlen(DType::kInt64);
  joined.name = "w";
  const Slice slice = parse_one(sequences({steps(DType::kInt64), joined}), records);
  std::vector<std::int64_t> dense;
  std::vector<std::int64_t> flat;
  for (std::int64_t row = 0; row < 100; ++row) {
    dense.insert(dense.end(), {row, 1000 + row});
    flat.insert(flat.end(), {row, -1});
  }
  EXPECT_EQ(values_of<std::int64_t>(slice.columns[0].values), dense);
  EXPECT_EQ(values_of<std::int64_t>(slice.columns[1].values), flat);
}

TEST(ListColumn, SameValuesForAnyReplicasAndTasks) {
  constexpr std::int64_t kRows = 200;
  std::vector<std::string> records;
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::string q;
    std::string v;
    std::string p;
    for (std::int64_t i = 0; i < row % 4; ++i) {
      q += bytes_step({std::string(static_cast<std::size_t>(row % 5), 'x')});
      v += int_step({row, i});
      p += int_step({0, 2});
    }
    records.push_back(feature_lists(list_entry("q", q) + list_entry("v", v) + list_entry("p", p)));
  }
  const Schema schema =
      sequences({steps(DType::kBytes), length_of("q"), ragged({{.kind = PartitionKind::kRowLengths, .key = "p"}})});
  const Slice whole = parse_one(schema, records);
  const auto texts = strings_of(whole.columns[0]);
  const auto numbers = values_of<std::int64_t>(whole.columns[2].values);
  for (const std::vector<std::int64_t>& cut : {std::vector<std::int64_t>{kRows}, {67, 0, 133}, {50, 50, 50, 50}}) {
    for (const std::int64_t rows_per_task : {64, 1000}) {
      const auto slices = parse(schema, records, cut, rows_per_task);
      ASSERT_TRUE(slices.ok()) << slices.status().to_string();
      std::vector<std::string> found_texts;
      std::vector<std::int64_t> found_numbers;
      std::int64_t first = 0;
      for (const Slice& slice : *slices) {
        EXPECT_THAT(slice.columns[0].values.shape, ElementsAre(slice.rows, 3));
        for (const std::string& text : strings_of(slice.columns[0])) found_texts.push_back(text);
        const auto values = values_of<std::int64_t>(slice.columns[2].values);
        found_numbers.insert(found_numbers.end(), values.begin(), values.end());
        const auto lengths = values_of<std::int64_t>(slice.columns[1].values);
        const auto outer = splits_of(slice.columns[2], 0);
        const auto middle = splits_of(slice.columns[2], 1);
        const auto inner = splits_of(slice.columns[2], 2);
        for (std::int64_t row = 0; row < slice.rows; ++row) {
          const auto at = static_cast<std::size_t>(row);
          EXPECT_EQ(lengths[at], (first + row) % 4);
          EXPECT_EQ(outer[at + 1] - outer[at], (first + row) % 4);
        }
        for (std::size_t i = 0; i < middle.size(); ++i) EXPECT_EQ(middle[i], static_cast<std::int64_t>(2 * i));
        for (std::size_t i = 0; i < inner.size(); ++i) EXPECT_EQ(inner[i], static_cast<std::int64_t>(i / 2 * 2));
        first += slice.rows;
      }
      EXPECT_EQ(found_texts, texts);
      EXPECT_EQ(found_numbers, numbers);
    }
  }
}

TEST(ListColumn, NothingInTheWholeBatch) {
  const Schema schema =
      sequences({steps(DType::kBytes, {2}), length_of("q"), ragged({{.kind = PartitionKind::kRowSplits, .key = "p"}})});
  for (const std::vector<std::string>& records : {std::vector<std::string>{"", only("")}, {}}) {
    const Slice slice = parse_one(schema, records);
    const auto rows = static_cast<std::int64_t>(records.size());
    EXPECT_THAT(slice.columns[0].values.shape, ElementsAre(rows, 0, 2));
    EXPECT_EQ(values_of<std::int64_t>(slice.columns[1].values), std::vector<std::int64_t>(records.size()));
    EXPECT_EQ(splits_of(slice.columns[2], 0), std::vector<std::int64_t>(records.size() + 1));
    EXPECT_THAT(splits_of(slice.columns[2], 1), ElementsAre(0));
    EXPECT_THAT(splits_of(slice.columns[2], 2), ElementsAre(0));
  }
}

TEST(ListColumn, StepsThatDoNotFit) {
  const Schema dense = sequences({steps(DType::kInt64)});
  expect_mismatch(dense, only(int_step({1}) + int_step({2, 3})),
                  "Key: q, Index: 1.  Number of values != expected. values size: 2 but output shape: []", "q");
  expect_mismatch(dense, only(int_step({})), "Index: 0.  Number of values != expected. values size: 0", "q");
  expect_mismatch(dense, only(field(1, "")), "Index: 0.  Number of values != expected. values size: 0", "q");
  expect_mismatch(dense, only(int_step({1}) + float_step({2})), "Feature list: q, Index: 1.  Data types don't match.",
                  "q");
  expect_mismatch(dense, only(step(ListKind::kInt64, "\x0A\x01\x80")), "Can't parse", "q");
  expect_mismatch(dense, only(int_step({1}) + "\x0A\x09"), "Can't parse", "q");
  expect_mismatch(sequences({varlen(DType::kInt64)}), only(int_step({1}) + bytes_step({"x"})),
                  "Feature list: q, Index: 1.  Data types don't match. Expected type: int64, Actual type: string", "q");
}

TEST(ListColumn, AListThatMustBeThere) {
  Feature required = steps(DType::kInt64);
  required.allow_missing = false;
  const Schema schema = sequences({required});
  ASSERT_TRUE(schema.validate().ok());
  const Status status = parse(schema, {only(""), feature_lists(list_entry("qq", ""))}, {2}).status();
  EXPECT_THAT(status.message(), HasSubstr("Feature list 'q' is required but could not be found"));
  EXPECT_THAT(status.message(), HasSubstr("allow_missing"));
  EXPECT_THAT(status.message(), HasSubstr("'qq'"));
  EXPECT_EQ(status.where().row, 1);
}

TEST(ListColumn, PartitionsThatDoNotFit) {
  const Schema schema = sequences({ragged({{.kind = PartitionKind::kRowLengths, .key = "p"}})});
  const auto lists = [](std::string_view values, std::string_view partition) {
    return feature_lists(list_entry("v", values) + list_entry("p", partition));
  };
  expect_mismatch(schema, lists(int_step({1}) + int_step({2}), int_step({1})), "not aligned", "p");
  expect_mismatch(schema, lists(int_step({1}), int_step({1}) + int_step({})), "not aligned", "p");
  expect_mismatch(schema, feature_lists(list_entry("v", int_step({1}))), "not aligned", "p");
  expect_mismatch(schema, feature_lists(list_entry("p", int_step({1}))), "not aligned", "p");
  expect_mismatch(schema, lists(int_step({1}) + int_step({2}), int_step({1}) + int_step({2})),
                  "Index: 1.  Arguments to from_row_lengths do not form a valid RaggedTensor", "p");
  expect_mismatch(schema, lists(int_step({1}), float_step({1})), "Actual type: float in a partition of feature 'v'",
                  "p");
  expect_mismatch(schema, lists(int_step({1}), "\x0A\x09"), "Can't parse", "p");
  expect_mismatch(schema, lists("", "\x0A\x09"), "Can't parse", "p");
}

// Every id is fine by itself; the rows of all steps would be gigabytes of row splits.
TEST(ListColumn, RowIdsOfAllStepsTogetherAreBounded) {
  const Schema schema = sequences({ragged({{.kind = PartitionKind::kValueRowIds, .key = "p"}})});
  std::string values;
  std::string ids;
  for (int i = 0; i < 3; ++i) {
    values += int_step({1});
    ids += int_step({500'000});
  }
  expect_mismatch(schema, feature_lists(list_entry("v", values) + list_entry("p", ids)), "the rows of one record", "p");
}

TEST(ListColumn, SchemasThatAreRefused) {
  Feature with_value = steps(DType::kInt64);
  with_value.has_default = true;
  with_value.default_numeric.resize(8);
  const Feature sequence_of_context = list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64);
  EXPECT_THAT(sequences({in_list(fixed("q", DType::kInt64))}).validate().message(), HasSubstr("a feature list takes"));
  EXPECT_THAT(sequences({sequence_of_context}).validate().message(), HasSubstr("not for the context"));
  EXPECT_THAT(sequences({with_value}).validate().message(), HasSubstr("must be None"));
  EXPECT_THAT(sequences({length_of("q"), steps(DType::kInt64)}).validate().message(), HasSubstr("before it"));
  EXPECT_THAT(sequences({varlen(DType::kInt64), length_of("q")}).validate().message(), HasSubstr("before it"));
  EXPECT_THAT(sequences({steps(DType::kInt64, {0})}).validate().message(), HasSubstr("no elements"));
  EXPECT_THAT(Schema{.features = {steps(DType::kInt64)}}.validate().message(), HasSubstr("SequenceExamples only"));
  const Feature plain = list_of(FeatureKind::kListLength, "q", DType::kInt64);
  EXPECT_THAT(sequences({plain}).validate().message(), HasSubstr("feature list"));
}

}  // namespace
}  // namespace headrace::testing

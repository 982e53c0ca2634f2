// Columns of variable size: VarLen, Ragged with partitions, FixedLenSequence, bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Partition by(PartitionKind kind, std::string key) { return {.kind = kind, .key = std::move(key)}; }
Partition uniform(std::int64_t length) { return {.kind = PartitionKind::kUniformRowLength, .row_length = length}; }
Feature ragged(std::vector<Partition> partitions, DType dtype = DType::kInt64) {
  Feature feature = list_of(FeatureKind::kRagged, "r", dtype);
  feature.key = "v";
  feature.partitions = std::move(partitions);
  return feature;
}
Slice parse_one(const Schema& schema, const std::vector<std::string>& records) {
  auto slices = parse(schema, records, {static_cast<std::int64_t>(records.size())});
  EXPECT_TRUE(slices.ok()) << slices.status().to_string();
  return slices.ok() ? slices->at(0) : Slice{};
}

TEST(ParseVariable, VarLenOfEveryType) {
  const Schema schema{.features = {list_of(FeatureKind::kVarLen, "i", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "f", DType::kFloat32),
                                   list_of(FeatureKind::kVarLen, "s", DType::kBytes)}};
  const Slice slice = parse_one(schema, {ints("i", {1, 2, 3}) + floats("f", {0.5F}) + strings("s", {"ab", "", "c"}), "",
                                         ints("i", {-4}) + floats("f", {1, 2}) + strings("s", {"defg"})});
  ASSERT_EQ(slice.columns.size(), 3U);
  EXPECT_EQ(slice.find("i")->kind, ColumnKind::kRagged);
  EXPECT_THAT(slice.find("i")->values.shape, ElementsAre(4));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("i")->values), ElementsAre(1, 2, 3, -4));
  EXPECT_THAT(splits_of(*slice.find("i")), ElementsAre(0, 3, 3, 4));
  EXPECT_THAT(values_of<float>(slice.find("f")->values), ElementsAre(0.5F, 1, 2));
  EXPECT_THAT(splits_of(*slice.find("f")), ElementsAre(0, 1, 1, 3));
  EXPECT_THAT(strings_of(*slice.find("s")), ElementsAre("ab", "", "c", "defg"));
  EXPECT_THAT(splits_of(*slice.find("s")), ElementsAre(0, 3, 3, 4));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("s")->byte_offsets), ElementsAre(0, 2, 2, 3, 7));
}

// A feature whose list comes in two pieces of one kind: protobuf merges them. Neither piece is the list.
std::string in_two_pieces(std::string_view key, ListKind kind, std::string_view first, std::string_view second) {
  const int number = static_cast<int>(kind);
  return field(1, field(1, field(1, key) + field(2, field(number, first) + field(number, second))));
}

TEST(ParseVariable, ListsInPiecesOutliveTheRecordsBehindThem) {
  const Schema schema{.features = {list_of(FeatureKind::kVarLen, "i", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "s", DType::kBytes),
                                   ragged({by(PartitionKind::kRowLengths, "p")}, DType::kFloat32)}};
  std::vector<std::string> records;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::vector<float> floats;
  for (std::int64_t row = 0; row < 300; ++row) {
    const std::string text(static_cast<std::size_t>(row), 'x');
    const float number = static_cast<float>(row);
    records.push_back(
        in_two_pieces("i", ListKind::kInt64, field(1, varint(static_cast<std::uint64_t>(row))), field(1, varint(7))) +
        in_two_pieces("s", ListKind::kBytes, field(1, text), field(1, "end")) +
        in_two_pieces("v", ListKind::kFloat, field(1, bits(number)), field(1, bits(-number))) +
        in_two_pieces("p", ListKind::kInt64, field(1, varint(0)), field(1, varint(2))));
    integers.insert(integers.end(), {row, 7});
    texts.insert(texts.end(), {text, "end"});
    floats.insert(floats.end(), {number, -number});
  }
  const Slice slice = parse_one(schema, records);
  ASSERT_EQ(slice.columns.size(), 3U);
  EXPECT_EQ(values_of<std::int64_t>(slice.find("i")->values), integers);
  EXPECT_EQ(strings_of(*slice.find("s")), texts);
  EXPECT_EQ(values_of<float>(slice.find("r")->values), floats);
  const std::vector<std::int64_t> rows = splits_of(*slice.find("r"), 1);
  EXPECT_THAT(std::span(rows).first(4), ElementsAre(0, 0, 2, 2));
}

TEST(ParseVariable, NothingInTheWholeBatch) {
  const Schema schema{.features = {list_of(FeatureKind::kVarLen, "i", DType::kInt64),
                                   list_of(FeatureKind::kFixedLenSequence, "q", DType::kFloat32, {2}),
                                   ragged({by(PartitionKind::kRowSplits, "p")}, DType::kBytes)}};
  for (const std::vector<std::string>& records : {std::vector<std::string>{"", ""}, std::vector<std::string>{}}) {
    const Slice slice = parse_one(schema, records);
    const auto rows = static_cast<std::int64_t>(records.size());
    ASSERT_EQ(slice.columns.size(), 3U);
    EXPECT_THAT(slice.find("i")->values.shape, ElementsAre(0));
    EXPECT_EQ(splits_of(*slice.find("i")), std::vector<std::int64_t>(records.size() + 1));
    EXPECT_THAT(slice.find("q")->values.shape, ElementsAre(rows, 0, 2));
    EXPECT_THAT(strings_of(*slice.find("r")), IsEmpty());
    EXPECT_EQ(splits_of(*slice.find("r"), 0), std::vector<std::int64_t>(records.size() + 1));
    EXPECT_THAT(splits_of(*slice.find("r"), 1), ElementsAre(0));
  }
}

TEST(ParseVariable, SequencesArePaddedToTheLongest) {
  Feature text = list_of(FeatureKind::kFixedLenSequence, "s", DType::kBytes);
  text.has_default = true;
  text.default_bytes = {"pad"};
  const Schema schema{
      .features = {list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2}),
                   with_default<float>(list_of(FeatureKind::kFixedLenSequence, "f", DType::kFloat32), {-1}), text}};
  const Slice slice = parse_one(schema, {ints("q", {1, 2}) + floats("f", {5}) + strings("s", {"a", "b"}),
                                         ints("q", {3, 4, 5, 6}), floats("f", {7, 8}) + strings("s", {"c"})});
  ASSERT_EQ(slice.columns.size(), 3U);
  EXPECT_EQ(slice.find("q")->kind, ColumnKind::kDense);
  EXPECT_THAT(slice.find("q")->values.shape, ElementsAre(3, 2, 2));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("q")->values), ElementsAre(1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0));
  EXPECT_THAT(values_of<float>(slice.find("f")->values), ElementsAre(5, -1, -1, -1, 7, 8));
  EXPECT_THAT(strings_of(*slice.find("s")), ElementsAre("a", "b", "pad", "pad", "c", "pad"));
}

TEST(ParseVariable, OnePartitionOfEachKind) {
  // Values 1 2 3 | 4 of record 0 as rows [1] [2 3] and of record 1 as rows [] [4].
  struct Case {
    PartitionKind kind;
    std::initializer_list<std::int64_t> first;
    std::initializer_list<std::int64_t> second;
  };
  for (const Case& c :
       {Case{PartitionKind::kRowSplits, {0, 1, 3}, {0, 0, 1}}, Case{PartitionKind::kRowLengths, {1, 2}, {0, 1}},
        Case{PartitionKind::kRowStarts, {0, 1}, {0, 0}}, Case{PartitionKind::kRowLimits, {1, 3}, {0, 1}},
        Case{PartitionKind::kValueRowIds, {0, 1, 1}, {1}}}) {
    const Slice slice = parse_one({.features = {ragged({by(c.kind, "p")})}},
                                  {ints("v", {1, 2, 3}) + ints("p", c.first), ints("v", {4}) + ints("p", c.second)});
    ASSERT_EQ(slice.columns.size(), 1U);
    EXPECT_THAT(values_of<std::int64_t>(slice.columns[0].values), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(splits_of(slice.columns[0], 0), ElementsAre(0, 2, 4));
    EXPECT_THAT(splits_of(slice.columns[0], 1), ElementsAre(0, 1, 3, 3, 4)) << static_cast<int>(c.kind);
  }
}

TEST(ParseVariable, NestedPartitions) {
  // Outermost first: record 0 is [[[1, 2], [3]], []], record 1 is [[[4]]].
  const Schema schema{
      .features = {ragged({by(PartitionKind::kRowLengths, "outer"), by(PartitionKind::kRowSplits, "inner")})}};
  const Slice slice = parse_one(schema, {ints("v", {1, 2, 3}) + ints("outer", {2, 0}) + ints("inner", {0, 2, 3}),
                                         ints("v", {4}) + ints("outer", {1}) + ints("inner", {0, 1})});
  ASSERT_EQ(slice.columns.size(), 1U);
  const Column& column = slice.columns[0];
  ASSERT_EQ(column.row_splits.size(), 3U);
  EXPECT_THAT(splits_of(column, 0), ElementsAre(0, 2, 3));
  EXPECT_THAT(splits_of(column, 1), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(splits_of(column, 2), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(values_of<std::int64_t>(column.values), ElementsAre(1, 2, 3, 4));
}

TEST(ParseVariable, UniformPartitions) {
  // At the end they are dimensions of the values ...
  const Slice inner = parse_one({.features = {ragged({by(PartitionKind::kRowLengths, "p"), uniform(2)})}},
                                {ints("v", {1, 2, 3, 4}) + ints("p", {1, 1}), ints("v", {5, 6}) + ints("p", {1})});
  ASSERT_EQ(inner.columns.size(), 1U);
  EXPECT_THAT(inner.columns[0].values.shape, ElementsAre(3, 2));
  EXPECT_THAT(splits_of(inner.columns[0], 0), ElementsAre(0, 2, 3));
  EXPECT_THAT(splits_of(inner.columns[0], 1), ElementsAre(0, 1, 2, 3));
  // ... alone too ...
  const Slice alone = parse_one({.features = {ragged({uniform(3)}, DType::kFloat32)}},
                                {floats("v", {1, 2, 3, 4, 5, 6}), floats("v", {})});
  ASSERT_EQ(alone.columns.size(), 1U);
  EXPECT_THAT(alone.columns[0].values.shape, ElementsAre(2, 3));
  EXPECT_THAT(splits_of(alone.columns[0]), ElementsAre(0, 2, 2));
  // ... and around a ragged one a dimension of equal rows.
  const Slice outer = parse_one({.features = {ragged({uniform(2), by(PartitionKind::kRowLengths, "p")})}},
                                {ints("v", {1, 2, 3}) + ints("p", {1, 2}), ints("v", {4}) + ints("p", {0, 0, 1, 0})});
  ASSERT_EQ(outer.columns.size(), 1U);
  EXPECT_THAT(splits_of(outer.columns[0], 0), ElementsAre(0, 1, 3));
  EXPECT_THAT(splits_of(outer.columns[0], 1), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(splits_of(outer.columns[0], 2), ElementsAre(0, 1, 3, 3, 3, 4, 4));
}

TEST(ParseVariable, TwoRaggedFeaturesOfOneKey) {
  Feature plain = list_of(FeatureKind::kRagged, "plain", DType::kInt64);
  plain.key = "v";
  const Slice slice = parse_one({.features = {plain, ragged({by(PartitionKind::kRowLengths, "p")})}},
                                {ints("v", {1, 2}) + ints("p", {2, 0})});
  ASSERT_EQ(slice.columns.size(), 2U);
  EXPECT_THAT(splits_of(slice.columns[0]), ElementsAre(0, 2));
  EXPECT_THAT(splits_of(slice.columns[1], 1), ElementsAre(0, 2, 2));
}

TEST(ParseVariable, TensorsOfStrings) {
  Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kBytes, {2});
  tensor.has_default = true;
  tensor.default_bytes = {"x", "y"};
  // dtype 7 (string), shape [2], string_val.
  const std::string head = "\x08\x07" + field(2, field(2, "\x08\x02"));
  const Slice slice = parse_one({.features = {tensor}}, {strings("t", {head + field(8, "ab") + field(8, "c")}), "",
                                                         strings("t", {head + field(8, "z")})});
  ASSERT_EQ(slice.columns.size(), 1U);
  EXPECT_THAT(slice.columns[0].values.shape, ElementsAre(3, 2));
  EXPECT_THAT(strings_of(slice.columns[0]), ElementsAre("ab", "c", "x", "y", "z", "z"));
}

// Row r holds r % 4 values r; splits of each replica start at 0 and values stay in order at any cut.
TEST(ParseVariable, SameValuesForAnyReplicasAndTasks) {
  constexpr int kRows = 200;
  const Schema schema{.features = {fixed("a", DType::kInt64), list_of(FeatureKind::kVarLen, "n", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "s", DType::kBytes),
                                   list_of(FeatureKind::kFixedLenSequence, "q", DType::kBytes),
                                   ragged({by(PartitionKind::kRowLengths, "p")})}};
  std::vector<std::string> records;
  for (int r = 0; r < kRows; ++r) {
    const std::string text(static_cast<std::size_t>(r % 7), 'x');
    std::string record = ints("a", {r}) + strings("q", {text});
    if (r % 4 == 1) record += ints("n", {r}) + strings("s", {text});
    if (r % 4 == 2) record += ints("n", {r, r}) + strings("s", {"", text}) + ints("v", {r}) + ints("p", {0, 1});
    if (r % 4 == 3) record += ints("n", {r, r, r}) + strings("q", {text, "second"});
    records.push_back(record);
  }
  const std::vector<std::vector<std::int64_t>> cuts = {{kRows}, {67, 67, 66}, {50, 50, 50, 50}, {0, 199, 1}};
  for (const auto& cut : cuts) {
    for (const std::int64_t rows_per_task : {64, 128, 1000}) {
      const auto slices = parse(schema, records, cut, rows_per_task);
      ASSERT_TRUE(slices.ok()) << slices.status().to_string();
      std::int64_t row = 0;
      for (const Slice& slice : *slices) {
        const auto n = values_of<std::int64_t>(slice.find("n")->values);
        const auto n_splits = splits_of(*slice.find("n"));
        const auto s = strings_of(*slice.find("s"));
        const auto s_splits = splits_of(*slice.find("s"));
        const auto q = strings_of(*slice.find("q"));
        const auto v = values_of<std::int64_t>(slice.find("r")->values);
        const auto r_outer = splits_of(*slice.find("r"), 0);
        const auto r_inner = splits_of(*slice.find("r"), 1);
        ASSERT_EQ(n_splits.at(0), 0);
        ASSERT_THAT(slice.find("q")->values.shape, ElementsAre(slice.rows, 2));
        for (std::size_t i = 0; i < static_cast<std::size_t>(slice.rows); ++i, ++row) {
          const std::string text(static_cast<std::size_t>(row % 7), 'x');
          ASSERT_EQ(n_splits.at(i + 1) - n_splits.at(i), row % 4);
          for (auto k = n_splits.at(i); k < n_splits.at(i + 1); ++k) ASSERT_EQ(n.at(static_cast<std::size_t>(k)), row);
          const std::int64_t strings_here = row % 4 == 3 ? 0 : row % 4;
          ASSERT_EQ(s_splits.at(i + 1) - s_splits.at(i), strings_here);
          if (strings_here > 0) {
            ASSERT_EQ(s.at(static_cast<std::size_t>(s_splits.at(i + 1)) - 1), text);
          }
          ASSERT_EQ(q.at(2 * i), text);
          ASSERT_EQ(q.at(2 * i + 1), row % 4 == 3 ? "second" : "");
          ASSERT_EQ(r_outer.at(i + 1) - r_outer.at(i), row % 4 == 2 ? 2 : 0);
          if (row % 4 == 2) {
            const auto at = static_cast<std::size_t>(r_outer.at(i));
            ASSERT_EQ(r_inner.at(at + 1) - r_inner.at(at), 0);
            ASSERT_EQ(v.at(static_cast<std::size_t>(r_inner.at(at + 1))), row);
            ASSERT_EQ(r_inner.at(at + 2) - r_inner.at(at + 1), 1);
          }
        }
      }
      ASSERT_EQ(row, kRows);
    }
  }
}

}  // namespace
}  // namespace headrace::testing

// Columns with transforms: every kind of feature, defaults, padding, rows and errors at any cut into tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Slice parse_whole(const Schema& schema, const std::vector<std::string>& records) {
  const Status valid = schema.validate();
  EXPECT_TRUE(valid.ok()) << valid.to_string();
  auto slices = parse(schema, records, {static_cast<std::int64_t>(records.size())});
  EXPECT_TRUE(slices.ok()) << slices.status().to_string();
  return slices.ok() ? std::move(slices->front()) : Slice{};
}

TEST(ParseTransforms, DenseColumns) {
  const Schema schema{
      .features = {transformed(fixed("a", DType::kInt64), {Cast{DType::kInt16}}),
                   transformed(with_default<float>(fixed("x", DType::kFloat32, {2}), {1, 2}), {Scale{{2}, {1}}}),
                   transformed(fixed("s", DType::kBytes, {2}), {Lookup{.strings = {"p", "q"}}}),
                   transformed(fixed("c", DType::kInt64), {OneHot{3, DType::kUint8}}), fixed("z", DType::kInt64)}};
  const std::string rest = strings("s", {"q", "other"}) + ints("c", {2}) + ints("z", {5});
  const Slice slice = parse_whole(schema, {ints("a", {-7}) + floats("x", {3, 4}) + rest, ints("a", {300}) + rest});
  EXPECT_EQ(slice.find("a")->values.dtype, DType::kInt16);
  EXPECT_THAT(values_of<std::int16_t>(slice.find("a")->values), ElementsAre(-7, 300));
  EXPECT_THAT(values_of<float>(slice.find("x")->values), ElementsAre(7, 9, 3, 5));
  EXPECT_EQ(slice.find("s")->values.dtype, DType::kInt64);
  EXPECT_THAT(slice.find("s")->values.shape, ElementsAre(2, 2));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("s")->values), ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(slice.find("c")->values.shape, ElementsAre(2, 3));
  EXPECT_THAT(values_of<std::uint8_t>(slice.find("c")->values), ElementsAre(0, 0, 1, 0, 0, 1));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("z")->values), ElementsAre(5, 5));
}

// Rows that are transformed one by one: packed floats out of the record, other forms and integers by way of scratch.
TEST(ParseTransforms, LargeRows) {
  constexpr std::int64_t kCount = 1200;
  std::string packed;
  std::string single;
  std::string varints;
  for (std::int64_t i = 0; i < kCount; ++i) {
    packed += bits(static_cast<float>(i));
    single += "\x0D" + bits(static_cast<float>(i));
    varints += varint(static_cast<std::uint64_t>(i));
  }
  const Schema schema{.features = {transformed(with_default<float>(fixed("x", DType::kFloat32, {kCount}), {3}),
                                               {Scale{{0.5}, {1}}, Cast{DType::kFloat64}}),
                                   transformed(fixed("n", DType::kInt64, {kCount}), {Mod{7}, Cast{DType::kUint8}})}};
  const std::string n = feature("n", ListKind::kInt64, field(1, varints));
  const Slice slice = parse_whole(
      schema, {feature("x", ListKind::kFloat, field(1, packed)) + n, feature("x", ListKind::kFloat, single) + n, n});
  const auto x = values_of<double>(slice.find("x")->values);
  const auto mod = values_of<std::uint8_t>(slice.find("n")->values);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(x.at(i), 0.5 * static_cast<double>(i) + 1);
    ASSERT_EQ(x.at(kCount + i), x.at(i));
    ASSERT_EQ(x.at(2 * kCount + i), 2.5);
    ASSERT_EQ(mod.at(kCount + i), i % 7);
  }
}

TEST(ParseTransforms, TensorsAndRawBytes) {
  const std::uint8_t pixels[] = {0, 51, 255};
  const Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kUint8, {1, 3});
  const Feature raw = list_of(FeatureKind::kRaw, "r", DType::kInt16, {2});
  const std::string record = strings("t", {*make_tensor_proto(DType::kUint8, {1, 3}, pixels)}) +
                             strings("r", {std::string_view("\x01\x00\xFF\xFF", 4)});
  const Slice slice =
      parse_whole({.features = {transformed(tensor, {Cast{DType::kFloat32}, Normalize{{0, 1, 5}, {255, 1, 10}}}),
                                transformed(raw, {Clip{std::int64_t{0}, std::int64_t{9}}})}},
                  {record});
  EXPECT_THAT(values_of<float>(slice.find("t")->values), ElementsAre(0, 50, 25));
  EXPECT_THAT(values_of<std::int16_t>(slice.find("r")->values), ElementsAre(1, 0));
}

TEST(ParseTransforms, TensorsOfStrings) {
  const Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kBytes, {2});
  // dtype 7 (string), shape [2], string_val "b" and "?".
  const std::string proto = "\x08\x07" + field(2, field(2, "\x08\x02")) + field(8, "b") + field(8, "?");
  const Slice slice = parse_whole({.features = {transformed(tensor, {Lookup{.strings = {"a", "b"}}})}},
                                  {strings("t", {proto}), strings("t", {proto})});
  EXPECT_EQ(slice.columns.at(0).values.dtype, DType::kInt64);
  EXPECT_THAT(values_of<std::int64_t>(slice.columns.at(0).values), ElementsAre(1, -1, 1, -1));
}

TEST(ParseTransforms, RaggedColumns) {
  const Feature list = list_of(FeatureKind::kVarLen, "v", DType::kInt64);
  Feature words = list_of(FeatureKind::kRagged, "w", DType::kBytes);
  const Slice slice = parse_whole({.features = {transformed(list, {Truncate{2}, Cast{DType::kInt32}}),
                                                transformed(words, {HashBucket{1}, OneHot{2, DType::kInt8}})}},
                                  {ints("v", {}), ints("v", {1, 2, 3}) + strings("w", {"a"}), ints("v", {4})});
  EXPECT_EQ(slice.find("v")->values.dtype, DType::kInt32);
  EXPECT_THAT(values_of<std::int32_t>(slice.find("v")->values), ElementsAre(1, 2, 4));
  EXPECT_THAT(splits_of(*slice.find("v")), ElementsAre(0, 0, 2, 3));
  EXPECT_THAT(slice.find("w")->values.shape, ElementsAre(1, 2));
  EXPECT_THAT(values_of<std::int8_t>(slice.find("w")->values), ElementsAre(1, 0));
  EXPECT_THAT(splits_of(*slice.find("w")), ElementsAre(0, 0, 1, 1));
}

TEST(ParseTransforms, TruncatedStringsAndFloats) {
  const Schema schema{.features = {transformed(list_of(FeatureKind::kVarLen, "s", DType::kBytes), {Truncate{1}}),
                                   transformed(list_of(FeatureKind::kVarLen, "x", DType::kFloat32), {Truncate{2}})}};
  const Slice slice =
      parse_whole(schema, {strings("s", {"one", "two"}) + floats("x", {1, 2, 3}), strings("s", {"", "x"}), ""});
  EXPECT_THAT(strings_of(*slice.find("s")), ElementsAre("one", ""));
  EXPECT_THAT(splits_of(*slice.find("s")), ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(values_of<float>(slice.find("x")->values), ElementsAre(1, 2));
}

TEST(ParseTransforms, Padding) {
  const Feature list = list_of(FeatureKind::kVarLen, "v", DType::kInt64);
  const std::vector<std::string> records = {ints("v", {1, 2, 3, 4}), ints("v", {5}), ""};
  Slice slice = parse_whole({.features = {transformed(list, {Pad{3, std::int64_t{-1}}})}}, records);
  EXPECT_EQ(slice.columns.at(0).kind, ColumnKind::kDense);
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(3, 3));
  EXPECT_THAT(values_of<std::int64_t>(slice.columns.at(0).values), ElementsAre(1, 2, 3, 5, -1, -1, -1, -1, -1));

  // What stands behind `pad` applies to the padding, along the row too; what stands before does not.
  slice = parse_whole({.features = {transformed(list, {Mod{4}, Truncate{2}, Pad{3, std::int64_t{9}},
                                                       Cast{DType::kFloat32}, Scale{{1, 10, 100}, {0}}})}},
                      records);
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(1, 20, 900, 1, 90, 900, 9, 90, 900));

  slice = parse_whole({.features = {transformed(list, {Pad{2, std::int64_t{-1}}, OneHot{3, DType::kInt8}})}}, records);
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(3, 2, 3));
  EXPECT_THAT(values_of<std::int8_t>(slice.columns.at(0).values),
              ElementsAre(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));

  const Feature words = list_of(FeatureKind::kVarLen, "w", DType::kBytes);
  slice = parse_whole({.features = {transformed(words, {Pad{2, "none"}})}},
                      {strings("w", {"a", "b", "c"}), "", strings("w", {"d"})});
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(3, 2));
  EXPECT_THAT(strings_of(slice.columns.at(0)), ElementsAre("a", "b", "none", "none", "d", "none"));
  slice = parse_whole({.features = {transformed(words, {Pad{2, "b"}, Lookup{.strings = {"a", "b"}}})}},
                      {strings("w", {"a"}), ""});
  EXPECT_THAT(values_of<std::int64_t>(slice.columns.at(0).values), ElementsAre(0, 1, 1, 1));
}

TEST(ParseTransforms, Sequences) {
  const Feature steps = with_default<float>(list_of(FeatureKind::kFixedLenSequence, "q", DType::kFloat32, {2}), {1});
  const std::vector<std::string> records = {floats("q", {1, 2, 3, 4, 5, 6}), floats("q", {7, 8})};
  Slice slice = parse_whole({.features = {transformed(steps, {Scale{{10, 100}, {0}}, Truncate{2}})}}, records);
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(10, 200, 30, 400, 70, 800, 10, 100));
  slice = parse_whole({.features = {transformed(steps, {Pad{2, std::int64_t{5}}, Scale{{10, 100}, {0}}})}}, records);
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(10, 200, 30, 400, 70, 800, 50, 500));
}

TEST(ParseTransforms, PartitionsStay) {
  Feature ragged = list_of(FeatureKind::kRagged, "r", DType::kInt64);
  ragged.partitions = {{PartitionKind::kRowLengths, "n"}, {.kind = PartitionKind::kUniformRowLength, .row_length = 2}};
  const Slice slice = parse_whole({.features = {transformed(ragged, {Cast{DType::kFloat32}, Scale{{1, -1}, {0}}})}},
                                  {ints("r", {1, 2, 3, 4}) + ints("n", {1, 0, 1}), ints("r", {5, 6}) + ints("n", {1})});
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(1, -2, 3, -4, 5, -6));
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(3, 2));
  EXPECT_THAT(splits_of(slice.columns.at(0), 1), ElementsAre(0, 1, 1, 2, 3));
}

TEST(ParseTransforms, FeatureLists) {
  Feature steps = in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2}));
  Feature words = in_list(list_of(FeatureKind::kVarLen, "w", DType::kBytes));
  Feature ragged = in_list(list_of(FeatureKind::kRagged, "r", DType::kInt64));
  ragged.partitions = {{PartitionKind::kRowLengths, "n"}};
  const Schema schema{.features = {transformed(steps, {Cast{DType::kFloat32}, Scale{{1, 10}, {0.5}}}),
                                   transformed(words, {Lookup{.strings = {"a", "b"}}, OneHot{2, DType::kInt8}}),
                                   transformed(ragged, {Cast{DType::kUint8}})},
                      .sequence = true};
  const Slice slice =
      parse_whole(schema, {feature_lists(list_entry("q", int_step({1, 2}) + int_step({3, 4})) +
                                         list_entry("w", bytes_step({"b", "?"}) + bytes_step({}) + bytes_step({"a"})) +
                                         list_entry("r", int_step({1, 2, 3}) + int_step({4})) +
                                         list_entry("n", int_step({1, 2}) + int_step({1}))),
                           feature_lists(list_entry("q", int_step({5, 6})))});
  EXPECT_THAT(slice.find("q")->values.shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(values_of<float>(slice.find("q")->values), ElementsAre(1.5, 20.5, 3.5, 40.5, 5.5, 60.5, 0.5, 0.5));
  EXPECT_THAT(slice.find("w")->values.shape, ElementsAre(3, 2));
  EXPECT_THAT(values_of<std::int8_t>(slice.find("w")->values), ElementsAre(0, 1, 0, 0, 1, 0));
  EXPECT_THAT(splits_of(*slice.find("w"), 1), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(values_of<std::uint8_t>(slice.find("r")->values), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(splits_of(*slice.find("r"), 2), ElementsAre(0, 1, 3, 4));
}

TEST(ParseTransforms, ABadValueOfAFeatureListHasItsStep) {
  for (const FeatureKind kind : {FeatureKind::kFixedLenSequence, FeatureKind::kVarLen}) {
    const Schema schema{.features = {transformed(in_list(list_of(kind, "q", DType::kInt64)), {Cast{DType::kBool}})},
                        .sequence = true};
    const auto slices = parse(schema, {"", feature_lists(list_entry("q", int_step({1}) + int_step({2})))}, {2});
    ASSERT_FALSE(slices.ok());
    EXPECT_EQ(slices.status().message(), "Feature list: q, Index: 1.  the value at place 0 is not bool (0 or 1)");
    EXPECT_EQ(slices.status().where().row, 1);
  }
}

std::string tensor_of(const std::vector<std::uint8_t>& values, const Shape& shape) {
  return strings("t", {*make_tensor_proto(DType::kUint8, shape, values)});
}

TEST(ParseTransforms, UnknownDimensions) {
  const std::vector<std::string> records = {tensor_of({1, 2}, {1, 2}), tensor_of({3, 4, 5, 6}, {2, 2})};
  Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kUint8, {-1, 2});
  const std::vector<Transform> scaled = {Cast{DType::kFloat32}, Scale{{1, 10}, {0}}};
  Slice slice = parse_whole({.features = {transformed(tensor, scaled)}}, records);
  EXPECT_EQ(slice.columns.at(0).kind, ColumnKind::kRagged);
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(3, 2));
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(1, 20, 3, 40, 5, 60));

  tensor.unknown_dims = UnknownDims::kPadded;
  tensor = with_default<std::uint8_t>(tensor, {9});
  slice = parse_whole({.features = {transformed(tensor, scaled)}}, records);
  EXPECT_THAT(values_of<float>(slice.columns.at(0).values), ElementsAre(1, 20, 9, 90, 3, 40, 5, 60));
  slice = parse_whole({.features = {transformed(tensor, {Mod{4}, OneHot{2, DType::kInt8}})}}, records);
  EXPECT_THAT(slice.columns.at(0).values.shape, ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(values_of<std::int8_t>(slice.columns.at(0).values),
              ElementsAre(0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0));

  tensor.default_numeric = {1};
  const auto failed = parse({.features = {transformed(tensor, {Cast{DType::kBool}})}}, records, {2});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().message(), "the value at place 1 is not bool (0 or 1)");
  EXPECT_EQ(failed.status().where().row, 0);
}

TEST(ParseTransforms, RawBytesAndStringsOfUnknownNumber) {
  Feature raw = list_of(FeatureKind::kRaw, "r", DType::kInt16, {-1});
  raw.little_endian = false;
  Feature words = list_of(FeatureKind::kTensor, "t", DType::kBytes, {-1});
  // dtype 7 (string), shape [2], string_val "b", which stands for both.
  const std::string proto = "\x08\x07" + field(2, field(2, "\x08\x02")) + field(8, "b");
  const std::string empty = "\x08\x07" + field(2, field(2, std::string_view("\x08\x00", 2)));
  const Slice slice = parse_whole({.features = {transformed(raw, {Clip{std::int64_t{0}, std::int64_t{9}}}),
                                                transformed(words, {Lookup{.strings = {"a", "b"}}})}},
                                  {strings("r", {std::string_view("\x00\x05\xFF\xFF", 4)}) + strings("t", {proto}),
                                   strings("r", {""}) + strings("t", {empty})});
  EXPECT_THAT(values_of<std::int16_t>(slice.find("r")->values), ElementsAre(5, 0));
  EXPECT_THAT(splits_of(*slice.find("r")), ElementsAre(0, 2, 2));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("t")->values), ElementsAre(1, 1));
  EXPECT_THAT(splits_of(*slice.find("t")), ElementsAre(0, 2, 2));
}

// Row 70 has a value out of range, row 90 a wrong count, each in a column of its own kind; whichever comes first wins.
TEST(ParseTransforms, LowestRowThenFirstFeatureAtAnyCut) {
  constexpr int kRows = 200;
  const Schema schema{
      .features = {transformed(fixed("a", DType::kInt64), {Cast{DType::kInt8}}), fixed("b", DType::kInt64),
                   transformed(fixed("c", DType::kInt64), {Cast{DType::kInt8}}),
                   transformed(list_of(FeatureKind::kVarLen, "v", DType::kInt64), {Cast{DType::kInt8}})}};
  ASSERT_TRUE(schema.validate().ok());
  struct Fault {
    int row;
    char key;
  };
  const auto failing = [&](const std::vector<Fault>& faults, std::int64_t rows_per_task) {
    std::vector<std::string> records;
    for (int row = 0; row < kRows; ++row) {
      std::int64_t values[] = {1, 1, 1, 1};
      for (const Fault& fault : faults) {
        if (fault.row == row) values[fault.key == 'v' ? 3 : fault.key - 'a'] = 1000;
      }
      records.push_back(ints("a", {values[0]}) + (values[1] == 1 ? ints("b", {1}) : ints("b", {1, 2})) +
                        ints("c", {values[2]}) + ints("v", {5, values[3]}));
    }
    const auto slices = parse(schema, records, {kRows - 10, 10}, rows_per_task);
    EXPECT_FALSE(slices.ok());
    if (slices.ok()) return std::string();
    EXPECT_EQ(slices.status().code(), StatusCode::kSchemaMismatch);
    return slices.status().where().key + std::to_string(slices.status().where().row);
  };
  for (const std::int64_t rows_per_task : {64, 128, 1000}) {
    EXPECT_EQ(failing({{70, 'a'}, {90, 'b'}}, rows_per_task), "a70");
    EXPECT_EQ(failing({{70, 'b'}, {90, 'a'}}, rows_per_task), "b70");
    EXPECT_EQ(failing({{70, 'b'}, {70, 'a'}, {70, 'c'}}, rows_per_task), "a70");
    EXPECT_EQ(failing({{70, 'b'}, {70, 'c'}, {70, 'v'}}, rows_per_task), "b70");
    EXPECT_EQ(failing({{70, 'v'}, {71, 'a'}}, rows_per_task), "v70");
    EXPECT_EQ(failing({{70, 'c'}, {70, 'v'}}, rows_per_task), "c70");
    EXPECT_EQ(failing({{199, 'c'}, {63, 'v'}, {64, 'a'}}, rows_per_task), "v63");
  }
}

TEST(ParseTransforms, ErrorsNameKeyRangeAndPlaceNotTheValue) {
  const Schema schema{.features = {transformed(fixed("a", DType::kInt64, {2}), {Cast{DType::kUint8}})}};
  const auto slices = parse(schema, {ints("a", {1, 2}), ints("a", {3, 98765})}, {2});
  ASSERT_FALSE(slices.ok());
  const Status& status = slices.status();
  EXPECT_EQ(status.message(), "the value at place 1 is not uint8 (0 to 255)");
  EXPECT_EQ(status.where().key, "a");
  EXPECT_EQ(status.where().row, 1);
  EXPECT_EQ(status.where().expected, "uint8 (0 to 255)");
  EXPECT_EQ(status.to_string().find("98765"), std::string::npos);

  const Schema words{
      .features = {transformed(fixed("s", DType::kBytes), {Lookup{.strings = {"x"}, .oov_fails = true}})}};
  const auto unknown = parse(words, {strings("s", {"x"}), strings("s", {"secret"})}, {2});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().message(), HasSubstr("a value of the vocabulary"));
  EXPECT_EQ(unknown.status().to_string().find("secret"), std::string::npos);
}

TEST(ParseTransforms, SameValuesForAnyReplicasAndTasks) {
  constexpr int kRows = 333;
  const Schema schema{.features = {transformed(fixed("a", DType::kInt64), {Mod{100}, Cast{DType::kUint8}}),
                                   transformed(list_of(FeatureKind::kVarLen, "v", DType::kInt64), {Pad{2}, Mod{50}})}};
  std::vector<std::string> records;
  for (int r = 0; r < kRows; ++r) records.push_back(ints("a", {r}) + (r % 3 == 0 ? "" : ints("v", {r, r, r})));
  for (const std::vector<std::int64_t>& cut : {std::vector<std::int64_t>{kRows}, {111, 111, 111}, {0, 1, 332}}) {
    for (const std::int64_t rows_per_task : {1, 128, 1000}) {
      const auto slices = parse(schema, records, cut, rows_per_task);
      ASSERT_TRUE(slices.ok()) << slices.status().to_string();
      int row = 0;
      for (const Slice& slice : *slices) {
        const auto a = values_of<std::uint8_t>(slice.find("a")->values);
        const auto v = values_of<std::int64_t>(slice.find("v")->values);
        for (std::size_t i = 0; i < static_cast<std::size_t>(slice.rows); ++i, ++row) {
          ASSERT_EQ(a.at(i), row % 100);
          ASSERT_EQ(v.at(2 * i), row % 3 == 0 ? 0 : row % 50);
          ASSERT_EQ(v.at(2 * i + 1), v.at(2 * i));
        }
      }
      ASSERT_EQ(row, kRows);
    }
  }
}

}  // namespace
}  // namespace headrace::testing

// Columns of several keys: stacks and jagged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;

Feature stack(std::vector<std::string> keys, DType dtype) {
  Feature feature = list_of(FeatureKind::kStack, "s", dtype, {static_cast<std::int64_t>(keys.size())});
  feature.keys = std::move(keys);
  return feature;
}
Feature jagged(std::vector<std::string> keys, DType dtype) {
  Feature feature = list_of(FeatureKind::kJagged, "j", dtype);
  feature.keys = std::move(keys);
  return feature;
}

TEST(Stack, HasAColumnPerKeyInTheOrderOfTheKeys) {
  const Schema schema{.features = {fixed("x", DType::kInt64), stack({"b", "a", "c"}, DType::kFloat32),
                                   fixed("y", DType::kFloat32, {2})}};
  std::vector<std::string> records;
  std::vector<float> wanted;
  for (int r = 0; r < 200; ++r) {
    const float value = static_cast<float>(r);
    records.push_back(floats("a", {value}) + ints("x", {r}) + floats("c", {value + 0.25F}) + floats("b", {-value}) +
                      floats("y", {value, 1}));
    wanted.insert(wanted.end(), {-value, value, value + 0.25F});
  }
  for (const std::int64_t rows_per_task : {64, 1000}) {
    const auto slices = parse(schema, records, {130, 70}, rows_per_task);
    ASSERT_TRUE(slices.ok()) << slices.status().to_string();
    std::vector<float> found;
    for (const Slice& slice : *slices) {
      ASSERT_EQ(slice.columns.size(), 3U);
      const Tensor& values = slice.find("s")->values;
      EXPECT_THAT(values.shape, ElementsAre(slice.rows, 3));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data) % kColumnAlignment, 0U);
      const auto part = values_of<float>(values);
      found.insert(found.end(), part.begin(), part.end());
      EXPECT_EQ(values_of<float>(slice.find("y")->values).at(1), 1.0F);
    }
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(values_of<std::int64_t>(slices->at(1).find("x")->values).front(), 130);
  }
}

TEST(Stack, DefaultsAreForAllKeysOrForEach) {
  const std::vector<std::string> records = {ints("b", {7}), ""};
  const auto one =
      parse({.features = {with_default<std::int64_t>(stack({"a", "b"}, DType::kInt64), {-1})}}, records, {2});
  ASSERT_TRUE(one.ok());
  EXPECT_THAT(values_of<std::int64_t>(one->at(0).columns.at(0).values), ElementsAre(-1, 7, -1, -1));
  const auto each =
      parse({.features = {with_default<std::int64_t>(stack({"a", "b"}, DType::kInt64), {1, 2})}}, records, {2});
  ASSERT_TRUE(each.ok());
  EXPECT_THAT(values_of<std::int64_t>(each->at(0).columns.at(0).values), ElementsAre(1, 7, 1, 2));
}

TEST(Stack, FailuresNameTheKeyInTheRecord) {
  const Schema schema{.features = {stack({"a", "b"}, DType::kInt64)}};
  const std::string good = ints("a", {1}) + ints("b", {2});
  const Status missing = parse(schema, {good, ints("a", {1})}, {2}).status();
  EXPECT_EQ(missing.where().key, "b");
  EXPECT_EQ(missing.where().row, 1);
  const Status count = parse(schema, {good, good, ints("a", {1, 2}) + ints("b", {2})}, {3}).status();
  EXPECT_EQ(count.where().key, "a");
  EXPECT_EQ(count.where().row, 2);
}

TEST(Jagged, HasAllRowsOfAKeyBeforeThoseOfTheNext) {
  const Schema schema{.features = {jagged({"a", "b"}, DType::kInt64)}};
  const std::vector<std::string> records = {ints("a", {1, 2}) + ints("b", {3}), ints("b", {4, 5, 6}), ints("a", {7})};
  const auto slices = parse(schema, records, {3});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  ASSERT_EQ(slices->at(0).columns.size(), 1U);
  const Column& column = slices->at(0).columns[0];
  EXPECT_EQ(column.name, "j");
  EXPECT_EQ(column.kind, ColumnKind::kJagged);
  EXPECT_THAT(*column.keys, ElementsAre("a", "b"));
  EXPECT_THAT(values_of<std::int64_t>(column.values), ElementsAre(1, 2, 7, 3, 4, 5, 6));
  EXPECT_THAT(splits_of(column, 0), ElementsAre(0, 2, 2, 3, 4, 7, 7));
  EXPECT_THAT(splits_of(column, 1), ElementsAre(2, 0, 1, 1, 3, 0));
}

TEST(Jagged, Strings) {
  const Schema schema{
      .features = {jagged({"a", "b"}, DType::kBytes), list_of(FeatureKind::kVarLen, "v", DType::kBytes)}};
  const std::vector<std::string> records = {strings("b", {"x", "yz"}) + strings("v", {"q"}),
                                            strings("a", {"", "long"}) + strings("b", {"w"})};
  const auto slices = parse(schema, records, {2});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Column& column = slices->at(0).columns.at(0);
  EXPECT_THAT(strings_of(column), ElementsAre("", "long", "x", "yz", "w"));
  EXPECT_THAT(splits_of(column, 0), ElementsAre(0, 0, 2, 4, 5));
  EXPECT_THAT(strings_of(slices->at(0).columns.at(1)), ElementsAre("q"));
}

TEST(Jagged, SeveralTasksAndReplicasAndNoRows) {
  const Schema schema{
      .features = {list_of(FeatureKind::kVarLen, "v", DType::kInt64), jagged({"a", "b"}, DType::kInt64)}};
  std::vector<std::string> records;
  for (int r = 0; r < 200; ++r) {
    std::string packed;
    for (int i = 0; i < r % 5; ++i) packed += varint(static_cast<std::uint64_t>(r));
    records.push_back(feature("a", ListKind::kInt64, field(1, packed)) + ints("b", {r, -r}) + ints("v", {r}));
  }
  const auto slices = parse(schema, records, {150, 50, 0});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  std::int64_t first = 0;
  for (const Slice& slice : *slices) {
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> lengths;
    for (std::int64_t r = first; r < first + slice.rows; ++r) {
      values.insert(values.end(), static_cast<std::size_t>(r % 5), r);
      lengths.push_back(r % 5);
    }
    for (std::int64_t r = first; r < first + slice.rows; ++r) {
      values.insert(values.end(), {r, -r});
      lengths.push_back(2);
    }
    std::vector<std::int64_t> offsets = {0};
    for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
    const Column& column = *slice.find("j");
    EXPECT_EQ(values_of<std::int64_t>(column.values), values);
    EXPECT_EQ(splits_of(column, 0), offsets);
    EXPECT_EQ(splits_of(column, 1), lengths);
    EXPECT_EQ(splits_of(*slice.find("v")).size(), static_cast<std::size_t>(slice.rows) + 1);
    first += slice.rows;
  }
}

TEST(Jagged, FailuresNameTheKeyInTheRecord) {
  const Schema schema{.features = {jagged({"a", "b"}, DType::kInt64)}};
  const Status status = parse(schema, {ints("a", {1}), ints("a", {1}) + floats("b", {1})}, {2}).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().key, "b");
  EXPECT_EQ(status.where().row, 1);
}

}  // namespace
}  // namespace headrace::testing

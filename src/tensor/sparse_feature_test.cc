// SparseFeature: values at the indices that other features give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Feature sparse(std::vector<SparseIndex> indices, DType dtype = DType::kInt64) {
  Feature feature = list_of(FeatureKind::kSparse, "s", dtype);
  feature.key = "v";
  feature.indices = std::move(indices);
  return feature;
}
Slice parse_one(const Schema& schema, const std::vector<std::string>& records) {
  auto slices = parse(schema, records, {static_cast<std::int64_t>(records.size())});
  EXPECT_TRUE(slices.ok()) << slices.status().to_string();
  return slices.ok() ? slices->at(0) : Slice{.rows = 0, .columns = {Column{}}};
}
std::vector<std::int64_t> indices_of(const Column& column) { return values_of<std::int64_t>(column.indices); }

TEST(SparseFeature, ValuesAreSortedByIndex) {
  const Slice slice = parse_one({.features = {sparse({{"i", 10}})}},
                                {ints("v", {7, 8, 9}) + ints("i", {5, 0, 3}), "", ints("v", {4}) + ints("i", {9})});
  const Column& column = slice.columns[0];
  EXPECT_EQ(column.kind, ColumnKind::kSparse);
  EXPECT_THAT(column.dense_shape, ElementsAre(3, 10));
  EXPECT_THAT(column.indices.shape, ElementsAre(4, 2));
  EXPECT_THAT(indices_of(column), ElementsAre(0, 0, 0, 3, 0, 5, 2, 9));
  EXPECT_THAT(values_of<std::int64_t>(column.values), ElementsAre(8, 9, 7, 4));
}

TEST(SparseFeature, SeveralDimensionsOfEveryType) {
  const std::string indices = ints("i", {1, 0, 1, 0}) + ints("j", {0, 4, 0, 2});
  const Slice floats_slice =
      parse_one({.features = {sparse({{"i", 2}, {"j", 5}}, DType::kFloat32)}}, {floats("v", {1, 2, 3, 4}) + indices});
  EXPECT_THAT(floats_slice.columns[0].dense_shape, ElementsAre(1, 2, 5));
  EXPECT_THAT(indices_of(floats_slice.columns[0]), ElementsAre(0, 0, 2, 0, 0, 4, 0, 1, 0, 0, 1, 0));
  EXPECT_THAT(values_of<float>(floats_slice.columns[0].values), ElementsAre(4, 2, 1, 3));  // of one index as they come
  const Slice strings_slice = parse_one({.features = {sparse({{"i", 2}, {"j", 5}}, DType::kBytes)}},
                                        {strings("v", {"one", "", "three", "four"}) + indices});
  EXPECT_THAT(strings_of(strings_slice.columns[0]), ElementsAre("four", "", "one", "three"));
}

TEST(SparseFeature, AlreadySortedKeepsTheOrderOfTheRecord) {
  Feature feature = sparse({{"i", 10}});
  feature.already_sorted = true;
  const Slice slice = parse_one({.features = {feature}}, {ints("v", {7, 8}) + ints("i", {5, 0})});
  EXPECT_THAT(indices_of(slice.columns[0]), ElementsAre(0, 5, 0, 0));
  EXPECT_THAT(values_of<std::int64_t>(slice.columns[0].values), ElementsAre(7, 8));
}

TEST(SparseFeature, NothingInTheWholeBatch) {
  for (const std::vector<std::string>& records : {std::vector<std::string>{"", without_kind("v")}, {}}) {
    const Slice slice = parse_one({.features = {sparse({{"i", 3}}, DType::kBytes)}}, records);
    EXPECT_THAT(slice.columns[0].dense_shape, ElementsAre(static_cast<std::int64_t>(records.size()), 3));
    EXPECT_THAT(slice.columns[0].indices.shape, ElementsAre(0, 2));
    EXPECT_THAT(strings_of(slice.columns[0]), IsEmpty());
  }
}

TEST(SparseFeature, KeysMayBeShared) {
  Feature other = sparse({{"i", 100}});
  other.name = "other";
  const Slice slice =
      parse_one({.features = {sparse({{"i", 10}}), other, list_of(FeatureKind::kVarLen, "i", DType::kInt64)}},
                {ints("v", {7, 8}) + ints("i", {5, 0})});
  EXPECT_THAT(slice.find("other")->dense_shape, ElementsAre(1, 100));
  EXPECT_THAT(indices_of(*slice.find("other")), ElementsAre(0, 0, 0, 5));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("i")->values), ElementsAre(5, 0));
}

TEST(SparseFeature, RowsCountWithinEachReplica) {
  std::vector<std::string> records;
  for (std::int64_t row = 0; row < 200; ++row) records.push_back(ints("v", {row, -row}) + ints("i", {row, 0}));
  for (const std::int64_t rows_per_task : {64, 1000}) {
    const auto slices = parse({.features = {sparse({{"i", 200}})}}, records, {101, 0, 99}, rows_per_task);
    ASSERT_TRUE(slices.ok()) << slices.status().to_string();
    std::int64_t first = 0;
    for (const Slice& slice : *slices) {
      std::vector<std::int64_t> indices;
      std::vector<std::int64_t> values;
      for (std::int64_t row = 0; row < slice.rows; ++row) {
        const std::int64_t number = first + row;
        indices.insert(indices.end(), {row, 0, row, number});
        values.insert(values.end(), {-number, number});
      }
      EXPECT_EQ(indices_of(slice.columns[0]), indices);
      EXPECT_EQ(values_of<std::int64_t>(slice.columns[0].values), values);
      first += slice.rows;
    }
  }
}

TEST(SparseFeature, WhatDoesNotFit) {
  struct Case {
    std::string record;
    std::string text;
    std::string key;
  };
  const Schema schema{.features = {sparse({{"i", 3}, {"j", 2}})}};
  for (const Case& c : {
           Case{ints("v", {1, 2}) + ints("i", {0}) + ints("j", {0, 1}), "1 indices for 2 values of feature 'v'", "i"},
           Case{ints("v", {1}) + ints("i", {0}), "0 indices for 1 values of feature 'v'", "j"},
           Case{ints("i", {0}) + ints("j", {0}), "1 indices for 0 values of feature 'v'", "i"},
           Case{ints("v", {1, 2}) + ints("i", {0, 3}) + ints("j", {0, 0}), "index 1 of the list is 3", "i"},
           Case{ints("v", {1}) + ints("i", {0}) + ints("j", {-1}), "index 0 of the list is -1", "j"},
           Case{ints("v", {1}) + ints("i", {0}) + floats("j", {0}),
                "Expected type: int64, Actual type: float in the indices", "j"},
           Case{floats("v", {1}) + ints("i", {0}) + ints("j", {0}), "Expected type: int64, Actual type: float", "v"},
           Case{ints("v", {1}) + ints("i", {0}) + feature("j", ListKind::kInt64, "\x0A\x01\x80"), "Can't parse", "j"},
       }) {
    const Status status = parse(schema, {"", c.record}, {2}).status();
    EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch) << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr(c.text));
    EXPECT_EQ(status.where().key, c.key) << c.text;
    EXPECT_EQ(status.where().row, 1);
  }
}

}  // namespace
}  // namespace headrace::testing

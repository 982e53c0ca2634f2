// Functions of map() on batches: in place, on every slice, in the order of the steps; what they return; what is refused.
#include <gtest/gtest.h>

#include <functional>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

MapOptions on_ids(std::string name, const std::function<int(std::int64_t*, std::int64_t)>& function) {
  return {.name = std::move(name), .columns = {"id"}, .function = [function](std::int64_t rows, void* const* columns) {
            return function(static_cast<std::int64_t*>(columns[0]), rows);
          }};
}

int triple(std::int64_t* ids, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) ids[i] *= 3;
  return 0;
}

int add_one(std::int64_t* ids, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) ids[i] += 1;
  return 0;
}

Dataset parsed(const TemporaryFolder& folder, const std::vector<int>& sizes, int threads = 4) {
  return TFRecordDataset({write_shards(folder, sizes), true}, {.num_threads = threads})
      .batch({.size = 8})
      .parse(full_schema());
}

TEST(SliceMaps, RunInOrderOnEverySlice) {
  const TemporaryFolder folder;
  const Dataset dataset = parsed(folder, {40, 37})
                              .map(on_ids("triple", triple))
                              .map(on_ids("add one", add_one))
                              .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}});
  const Delivered got = drain(dataset);
  ASSERT_TRUE(got.end.ok()) << got.end.to_string();
  std::vector<std::int64_t> expected;
  for (std::int64_t id = 0; id < 77; ++id) expected.push_back(3 * id + 1);
  EXPECT_EQ(got.flat(), expected);
}

TEST(SliceMaps, AnythingButZeroEndsTheStreamInItsPlace) {
  const TemporaryFolder folder;
  const auto fails_at_24 = [](const std::int64_t* ids, std::int64_t) { return ids[0] == 24 ? 9 : 0; };
  Result<Pipeline> pipeline = parsed(folder, {77}).map(on_ids("picky", fails_at_24)).open();
  ASSERT_TRUE(pipeline.ok());
  const Delivered got = drain(*pipeline);
  EXPECT_EQ(got.flat(), range(0, 24));
  EXPECT_EQ(got.end.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(got.end.message(), "map(picky): the function returned 9");
  EXPECT_EQ(pipeline->next().status().to_string(), got.end.to_string());
  EXPECT_EQ(pipeline->position()->batches, 3);
}

TEST(SliceMaps, RowsInFrontOfABadOneAreMappedOnce) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (std::int64_t id = 0; id < 8; ++id) records.push_back(example(id));
  records[5] = ExampleBuilder().build();
  write_records(folder.file("a"), records);
  const Dataset dataset = TFRecordDataset({{folder.file("a")}, true}).batch({.size = 8}).parse(id_schema());
  const Delivered got = drain(dataset.map(on_ids("triple", triple)));
  EXPECT_EQ(got.flat(), (std::vector<std::int64_t>{0, 3, 6, 9, 12}));
  EXPECT_EQ(got.end.code(), StatusCode::kSchemaMismatch);
}

TEST(SliceMaps, WhatIsRefused) {
  const TemporaryFolder folder;
  const Dataset dataset = parsed(folder, {3});
  const auto refused = [](const Dataset& wrong) { return wrong.status().code() == StatusCode::kInvalidArgument; };
  EXPECT_TRUE(refused(dataset.map({.name = "nothing"})));
  MapOptions unknown = on_ids("x", triple);
  unknown.columns = {"y"};
  EXPECT_TRUE(refused(dataset.map(unknown)));
  EXPECT_TRUE(refused(TFRecordDataset({{"a"}, true}).batch({.size = 1}).map(on_ids("x", triple))));
  EXPECT_TRUE(refused(dataset.prefetch_to_device({.devices = {"/CPU:0"}}).map(on_ids("x", triple))));
  MapOptions strings = on_ids("x", triple);
  strings.columns = {"s"};
  EXPECT_EQ(drain(dataset.map(strings)).end.message(), "map(x): column 's' is not a dense column of numbers");
}

}  // namespace
}  // namespace headrace

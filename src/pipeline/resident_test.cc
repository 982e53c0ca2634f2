// resident(): the first batches again and again, how many, and that nothing is read meanwhile.
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/pipeline_impl.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

Dataset tens(const TemporaryFolder& folder, int records) {
  return TFRecordDataset({write_shards(folder, {records}), true}).batch({.size = 10}).parse(full_schema());
}

std::vector<std::int64_t> repeated(std::vector<std::int64_t> ids, int times) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

TEST(Resident, TheFirstBatchesComeAgainAsOftenAsAsked) {
  const TemporaryFolder folder;
  const Dataset dataset = tens(folder, 100);
  EXPECT_EQ(drain(dataset.resident({.batches = 2, .count = 6})).flat(), repeated(range(0, 20), 3));
  EXPECT_EQ(drain(dataset.resident({.batches = 50, .count = 20})).flat(), repeated(range(0, 100), 2));
  EXPECT_EQ(drain(dataset.resident({.count = 0})).flat(), (std::vector<std::int64_t>{}));
  EXPECT_EQ(drain(dataset.resident({.batches = 3, .count = 1})).flat(), range(0, 10));
}

TEST(Resident, AKnownLengthIsKept) {
  const TemporaryFolder folder;
  const Dataset dataset = tens(folder, 95);
  EXPECT_EQ(dataset.resident().cardinality(), -1) << "nobody knows yet";
  drain(dataset);
  EXPECT_EQ(dataset.resident({.batches = 1}).cardinality(), 10);
  EXPECT_EQ(drain(dataset.resident({.batches = 1})).flat(), repeated(range(0, 10), 10));
  EXPECT_EQ(dataset.resident({.count = 7}).cardinality(), 7);
}

TEST(Resident, SlicesOfReplicas) {
  const TemporaryFolder folder;
  const DeviceOptions devices = {.devices = {"/CPU:0", "/CPU:1"}};
  for (const Dataset& dataset : {tens(folder, 100).prefetch_to_device(devices).resident({.batches = 1, .count = 3}),
                                 tens(folder, 100).resident({.batches = 1, .count = 3}).prefetch_to_device(devices)}) {
    Result<Pipeline> pipeline = dataset.open();
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
    for (int step = 0; step < 3; ++step) {
      for (int replica = 0; replica < 2; ++replica) {
        Result<std::optional<Slice>> slice = pipeline->next_slice(replica);
        ASSERT_TRUE(slice.ok() && *slice);
        EXPECT_EQ((*slice)->rows, 5);
        EXPECT_EQ((*slice)->batch_number, step);
        EXPECT_EQ(reinterpret_cast<const std::int64_t*>((*slice)->find("id")->values.data)[0], 5 * replica);
      }
    }
    EXPECT_FALSE((*pipeline->next_slice(0)).has_value());
  }
}

TEST(Resident, AFailureOfTheFirstBatchesStays) {
  const TemporaryFolder folder;
  Result<Pipeline> pipeline = TFRecordDataset({write_shards(folder, {15}), true})
                                  .assert_cardinality(20)
                                  .batch({.size = 10})
                                  .parse(full_schema())
                                  .resident({.batches = 3, .count = -1})
                                  .open();
  ASSERT_TRUE(pipeline.ok());
  const Delivered got = drain(*pipeline);
  EXPECT_EQ(got.flat(), range(0, 15));
  EXPECT_EQ(got.end.code(), StatusCode::kDataLoss);
  EXPECT_EQ(pipeline->next().status().to_string(), got.end.to_string());
}

TEST(Resident, ThereIsNoPosition) {
  const TemporaryFolder folder;
  Result<Pipeline> pipeline = tens(folder, 100).resident().open();
  ASSERT_TRUE(pipeline.ok());
  ASSERT_TRUE(pipeline->next().ok());
  EXPECT_EQ(pipeline->position().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(tens(folder, 100).resident().open(Position{}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Resident, WhatCannotBe) {
  const TemporaryFolder folder;
  const Dataset dataset = tens(folder, 10);
  EXPECT_FALSE(dataset.resident({.batches = 0}).status().ok());
  EXPECT_FALSE(dataset.resident({.count = -2}).status().ok());
  EXPECT_FALSE(dataset.resident().take(3).status().ok());
  EXPECT_FALSE(dataset.resident().resident().status().ok());
  EXPECT_FALSE(TFRecordDataset({{"x"}, true}).batch({.size = 1}).resident().status().ok());
}

TEST(Resident, NothingIsReadAnyMore) {
  const TemporaryFolder folder;
  Result<Pipeline> pipeline = TFRecordDataset({write_shards(folder, {5000}), true})
                                  .repeat()
                                  .batch({.size = 10})
                                  .parse(full_schema())
                                  .resident()
                                  .open();
  ASSERT_TRUE(pipeline.ok());
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(pipeline->next().ok());
  // The two that are kept, and as many as may be on their way behind them; some of these may still be parsed.
  const Report report = pipeline->impl()->report();
  const std::int64_t on_their_way = 2 + std::max(2, report.threads);
  EXPECT_LE(report.stages[2].records, 10 * (2 + on_their_way));
}

}  // namespace
}  // namespace headrace

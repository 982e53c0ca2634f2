// The batch that is smaller than the others, and replicas of unequal shares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

template <class T>
std::vector<T> values_of(const Slice& slice, const char* name) {
  const Column* const column = slice.find(name);
  if (column == nullptr) return {};
  std::vector<T> values(static_cast<std::size_t>(slice.rows));
  if (!values.empty()) std::memcpy(values.data(), column->values.data, column->values.bytes());
  return values;
}

struct Seen {
  std::int64_t global_rows = 0;
  std::vector<Numbers> ids;
  std::vector<std::vector<std::uint8_t>> masks;
};

std::vector<Seen> read_all(const Dataset& dataset, Status* failure = nullptr) {
  std::vector<Seen> batches;
  Result<Pipeline> pipeline = dataset.open();
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  if (!pipeline.ok()) return batches;
  for (;;) {
    const Result<std::optional<Batch>> batch = pipeline->next();
    if (!batch.ok()) {
      if (failure != nullptr) *failure = batch.status();
      EXPECT_NE(failure, nullptr) << batch.status().to_string();
      return batches;
    }
    if (!*batch) return batches;
    Seen seen{.global_rows = (*batch)->global_rows, .ids = {}, .masks = {}};
    for (const Slice& slice : (*batch)->replicas) {
      seen.ids.push_back(values_of<std::int64_t>(slice, "id"));
      seen.masks.push_back(values_of<std::uint8_t>(slice, "_mask"));
    }
    batches.push_back(std::move(seen));
  }
}

class RemainderTest : public ::testing::Test {
 protected:
  Dataset records(int count) const { return TFRecordDataset({write_shards(folder_, {count}), true}); }
  const TemporaryFolder folder_;
  const DeviceOptions pad_{.devices = {"/CPU:0", "/CPU:1", "/CPU:2"}, .remainder = Remainder::kPad};
};

TEST_F(RemainderTest, PaddingRepeatsTheRowsAndTheMaskTellsThem) {
  const auto batches = read_all(records(10).batch({.size = 6}).parse(full_schema()).prefetch_to_device(pad_));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].global_rows, 6);
  EXPECT_THAT(batches[0].masks, ElementsAre(ElementsAre(1, 1), ElementsAre(1, 1), ElementsAre(1, 1)));
  EXPECT_EQ(batches[1].global_rows, 4);
  EXPECT_THAT(batches[1].ids, ElementsAre(ElementsAre(6, 7), ElementsAre(8, 9), ElementsAre(6, 7)));
  EXPECT_THAT(batches[1].masks, ElementsAre(ElementsAre(1, 1), ElementsAre(1, 1), ElementsAre(0, 0)));
}

TEST_F(RemainderTest, ALastRowFillsTheWholeBatch) {
  const auto batches = read_all(records(7).batch({.size = 6}).parse(full_schema()).prefetch_to_device(pad_));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].global_rows, 1);
  EXPECT_THAT(batches[1].ids, ElementsAre(ElementsAre(6, 6), ElementsAre(6, 6), ElementsAre(6, 6)));
  EXPECT_THAT(batches[1].masks, ElementsAre(ElementsAre(1, 0), ElementsAre(0, 0), ElementsAre(0, 0)));
}

TEST_F(RemainderTest, OriginAndIndexAreThoseOfTheRepeatedRows) {
  Schema schema = full_schema();
  schema.origin = true;
  const Dataset numbered = records(8).enumerate(100).batch({.size = 6}).parse(schema);
  Result<Pipeline> pipeline = numbered.prefetch_to_device(pad_).open();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  ASSERT_TRUE(pipeline->next().ok());
  const Result<std::optional<Batch>> last = pipeline->next();
  ASSERT_TRUE(last.ok() && *last);
  const Slice& padding = (*last)->replicas[1];
  EXPECT_THAT(values_of<std::int64_t>(padding, "_record"), ElementsAre(6, 7));
  EXPECT_THAT(values_of<std::int64_t>(padding, "_index"), ElementsAre(106, 107));
}

TEST_F(RemainderTest, RowsThatAreReadLateArePaddedToo) {
  const Dataset located = records(9).shuffle({.seed = 3, .global = true}).batch({.size = 6}).parse(full_schema());
  const auto batches = read_all(located.prefetch_to_device(pad_));
  ASSERT_EQ(batches.size(), 2U);
  const std::vector<Numbers>& ids = batches[1].ids;
  EXPECT_EQ(batches[1].global_rows, 3);
  EXPECT_EQ(Numbers({ids[1][1], ids[2][0], ids[2][1]}), Numbers({ids[0][0], ids[0][1], ids[1][0]}));
}

TEST_F(RemainderTest, CachedBatchesKeepTheirPadding) {
  const Dataset dataset =
      records(10).batch({.size = 6}).parse(full_schema()).cache().repeat(2).prefetch_to_device(pad_);
  const auto batches = read_all(dataset);
  ASSERT_EQ(batches.size(), 4U);
  for (const std::size_t i : {1U, 3U}) {
    EXPECT_EQ(batches[i].global_rows, 4) << i;
    EXPECT_THAT(batches[i].masks, ElementsAre(ElementsAre(1, 1), ElementsAre(1, 1), ElementsAre(0, 0))) << i;
  }
}

TEST_F(RemainderTest, RowsBeforeABadOneArePadded) {
  std::vector<std::string> paths = write_shards(folder_, {4});
  paths.push_back(folder_.file("bad"));
  write_records(paths.back(), {ExampleBuilder().build()});
  Status failure;
  const Dataset files = TFRecordDataset({paths, true});
  const auto batches = read_all(files.batch({.size = 6}).parse(full_schema()).prefetch_to_device(pad_), &failure);
  EXPECT_EQ(failure.code(), StatusCode::kSchemaMismatch) << failure.to_string();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].global_rows, 4);
  EXPECT_THAT(batches[0].ids, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(0, 1)));
}

TEST_F(RemainderTest, DropLeavesTheSmallBatchOut) {
  DeviceOptions drop = pad_;
  drop.remainder = Remainder::kDrop;
  const Dataset dataset = records(10).assert_cardinality(10).batch({.size = 6}).parse(full_schema());
  EXPECT_FALSE(dataset.drops_remainder());
  EXPECT_EQ(dataset.cardinality(), 2);
  const Dataset dropping = dataset.prefetch_to_device(drop);
  EXPECT_TRUE(dropping.drops_remainder());
  EXPECT_EQ(dropping.cardinality(), 1);
  const auto batches = read_all(dropping);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_THAT(batches[0].ids, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
}

TEST_F(RemainderTest, WeightsShareTheRowsInProportion) {
  const DeviceOptions weighted{.devices = {"/CPU:0", "/CPU:1"}, .weights = {2, 1}};
  const auto batches = read_all(records(8).batch({.size = 6}).parse(full_schema()).prefetch_to_device(weighted));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(batches[0].ids, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(batches[1].ids, ElementsAre(ElementsAre(6), ElementsAre(7)));
}

// What three processes get together is what one gets.
TEST_F(RemainderTest, ProcessesParseTheirOwnRows) {
  Schema schema = full_schema();
  schema.origin = true;
  const Dataset parsed =
      records(32).shuffle({.buffer_size = 9, .seed = 2}).enumerate().batch({.size = 6}).parse(schema);
  for (const Remainder remainder : {Remainder::kSplit, Remainder::kPad}) {
    DeviceOptions options = pad_;
    options.remainder = remainder;
    const auto whole = read_all(parsed.prefetch_to_device(options));
    for (int process = 0; process < 3; ++process) {
      parsed.set_epoch(0);
      options.local = LocalDevices{process, 1};
      const Dataset mine = parsed.prefetch_to_device(options);
      const auto batches = read_all(mine);
      ASSERT_EQ(batches.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(batches[i].global_rows, whole[i].global_rows);
        EXPECT_THAT(batches[i].ids, ElementsAre(whole[i].ids[static_cast<std::size_t>(process)]));
        EXPECT_THAT(batches[i].masks, ElementsAre(whole[i].masks[static_cast<std::size_t>(process)]));
      }
    }
  }
}

TEST_F(RemainderTest, AFailureIsThatOfTheProcessWhoseRowItIs) {
  std::vector<std::string> paths = write_shards(folder_, {3});
  paths.push_back(folder_.file("bad"));
  write_records(paths.back(), {ExampleBuilder().build(), example(3), example(4)});
  const Dataset parsed = TFRecordDataset({paths, true}).batch({.size = 6}).parse(full_schema());
  for (int process = 0; process < 3; ++process) {
    DeviceOptions options = pad_;
    options.local = LocalDevices{process, 1};
    Status failure;
    const auto batches = read_all(parsed.prefetch_to_device(options), &failure);
    EXPECT_EQ(failure.ok(), process != 1);
    if (process != 1) continue;
    EXPECT_EQ(failure.where().row, 3) << "of the global batch";
    EXPECT_EQ(failure.where().path, paths.back());
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_EQ(batches[0].global_rows, 3);
    EXPECT_THAT(batches[0].ids, ElementsAre(ElementsAre(2, 0)));
  }
}

TEST_F(RemainderTest, RowsThatAreReadLateOrLeftOutAreSharedToo) {
  DeviceOptions options = pad_;
  const Dataset located = records(15).shuffle({.seed = 3, .global = true}).batch({.size = 6}).parse(full_schema());
  std::vector<std::string> paths = write_shards(folder_, {8});
  paths.push_back(folder_.file("bad"));
  write_records(paths.back(), {ExampleBuilder().build(), example(8)});
  const Dataset leaving = TFRecordDataset({paths, true}, {.on_mismatch = OnMismatch::kSkip});
  for (const Dataset& parsed : {located, leaving.batch({.size = 6}).parse(full_schema())}) {
    options.local.reset();
    parsed.set_epoch(0);
    const auto whole = read_all(parsed.prefetch_to_device(options));
    options.local = LocalDevices{1, 2};
    parsed.set_epoch(0);
    const auto batches = read_all(parsed.prefetch_to_device(options));
    ASSERT_EQ(batches.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_THAT(batches[i].ids, ElementsAre(whole[i].ids[1], whole[i].ids[2]));
    }
  }
}

TEST_F(RemainderTest, RefusesWhatCannotBeShared) {
  const Dataset parsed = records(1).batch({.size = 7}).parse(full_schema());
  const auto message = [&parsed](DeviceOptions options) {
    return parsed.prefetch_to_device(options).status().message();
  };
  EXPECT_THAT(message({.devices = {"/CPU:0", "/CPU:1"}, .weights = {2, 1}}), HasSubstr("6 and 9"));
  EXPECT_THAT(message({.devices = {"/CPU:0", "/CPU:1"}, .weights = {1}}), HasSubstr("1 numbers for 2 devices"));
  EXPECT_THAT(message({.devices = {"/CPU:0"}, .weights = {0}}), HasSubstr("0 must be 1 to 1000"));
  EXPECT_THAT(message({.devices = {"/CPU:0", "/CPU:1"}, .weights = {4, 3}, .local = LocalDevices{1, 2}}),
              HasSubstr("none of 2"));
  Schema taken = full_schema();
  taken.features[0].name = "_mask";
  taken.features[0].key = "id";
  EXPECT_THAT(records(1).batch({.size = 6}).parse(taken).prefetch_to_device(pad_).status().message(),
              HasSubstr("remainder=\"pad\""));
}

}  // namespace
}  // namespace headrace

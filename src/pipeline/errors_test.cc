#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using Batches = std::vector<std::vector<std::int64_t>>;

// Flips one bit of a file.
void damage(const std::string& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 4));
}

std::int64_t framed_size(std::int64_t id) { return static_cast<std::int64_t>(example(id).size()) + 16; }

TEST(Errors, BadRowEndsTheStreamBehindTheGoodOnes) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (std::int64_t id = 0; id < 20; ++id) records.push_back(example(id));
  records[13] = ExampleBuilder().build();
  write_records(folder.file("a"), records);
  for (const bool drop : {false, true}) {
    Result<Pipeline> pipeline = TFRecordDataset({{folder.file("a")}, true})
                                    .batch({.size = 5, .drop_remainder = drop})
                                    .parse(id_schema())
                                    .open();
    ASSERT_TRUE(pipeline.ok());
    const Delivered got = drain(*pipeline);
    EXPECT_EQ(got.batches,
              drop ? (Batches{range(0, 5), range(5, 10)}) : (Batches{range(0, 5), range(5, 10), range(10, 13)}));
    EXPECT_EQ(got.end.code(), StatusCode::kSchemaMismatch);
    EXPECT_EQ(got.end.where().path, folder.file("a"));
    EXPECT_EQ(got.end.where().record, 13);
    EXPECT_EQ(got.end.where().key, "id");
    EXPECT_EQ(got.end.where().row, 3);
    std::int64_t offset = 0;
    for (std::int64_t id = 0; id < 13; ++id) offset += framed_size(id);
    EXPECT_EQ(got.end.where().offset, offset);
    EXPECT_EQ(got.end.message().find("3 good rows") != std::string::npos, drop);
    // Sticky, and the position stays behind the last whole batch.
    EXPECT_EQ(pipeline->next().status().to_string(), got.end.to_string());
    EXPECT_EQ(pipeline->position()->batches, 2);
  }
}

TEST(Errors, AnotherNumberOfRecordsThanStatedEndsTheEpoch) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {10, 5}), true};
  for (const std::int64_t stated : {14, 15, 20}) {
    const Dataset dataset = TFRecordDataset(files).repeat(2).shuffle({.buffer_size = 4}).batch({.size = 8});
    Result<Pipeline> pipeline = dataset.assert_cardinality(stated).parse(id_schema()).open();
    ASSERT_TRUE(pipeline.ok());
    const Delivered got = drain(*pipeline);
    if (stated == 15) {
      EXPECT_TRUE(got.end.ok()) << got.end.to_string();
      EXPECT_EQ(got.flat().size(), 30U);
      continue;
    }
    EXPECT_EQ(got.flat().size(), 15U);
    EXPECT_EQ(got.end.code(), stated == 14 ? StatusCode::kInvalidArgument : StatusCode::kDataLoss);
    EXPECT_EQ(got.end.message(),
              "assert_cardinality(records=" + std::to_string(stated) + "): the files hold 15 records");
    EXPECT_EQ(pipeline->next().status().to_string(), got.end.to_string());
  }
}

TEST(Errors, SkippingDamageDoesNotCountAgainstTheStatedNumber) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {4});
  damage(paths[0], framed_size(0) + 12);
  const Dataset dataset = TFRecordDataset({paths, true}, {.on_corrupt = OnCorrupt::kSkip}).assert_cardinality(4);
  const Delivered got = drain(dataset.batch({.size = 8}).parse(id_schema()));
  EXPECT_TRUE(got.end.ok()) << got.end.to_string();
  EXPECT_EQ(got.batches, (Batches{{0, 2, 3}}));
}

TEST(Errors, DamageInOneShardStandsAtItsPlaceInTheInterleave) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {4, 4});  // ids 0-3 and 4-7
  damage(paths[1], framed_size(4) + framed_size(5) + 12);               // payload of record 2, id 6
  const Dataset dataset = TFRecordDataset({paths, true}).interleave({.cycle_length = 2}).batch({.size = 3});
  const Delivered got = drain(dataset.parse(id_schema()));
  EXPECT_EQ(got.batches, (Batches{{0, 4, 1}, {5, 2}}));
  EXPECT_EQ(got.end.code(), StatusCode::kDataLoss);
  EXPECT_EQ(got.end.where().path, paths[1]);
  EXPECT_EQ(got.end.where().record, 2);
}

TEST(Errors, TheShuffleBufferDrainsFirst) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {10});
  std::streamoff offset = 0;
  for (std::int64_t id = 0; id < 7; ++id) offset += framed_size(id);
  damage(paths[0], offset);
  const Delivered got = drain(
      TFRecordDataset({paths, true}).shuffle({.buffer_size = 5, .seed = 1}).batch({.size = 2}).parse(id_schema()));
  std::vector<std::int64_t> seen = got.flat();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, range(0, 7));
  EXPECT_EQ(got.end.code(), StatusCode::kDataLoss);
  EXPECT_EQ(got.end.where().record, 7);
}

TEST(Errors, SkippedDamageIsCounted) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {10});
  damage(paths[0], framed_size(0) + 14);
  const Dataset dataset = TFRecordDataset({paths, true}, {.on_corrupt = OnCorrupt::kSkip}).batch({.size = 20});
  std::vector<std::int64_t> expected = range(1, 10);
  expected[0] = 0;
  const Delivered got = drain(dataset.parse(id_schema()));
  EXPECT_TRUE(got.end.ok()) << got.end.to_string();
  EXPECT_EQ(got.batches, Batches{expected});
}

TEST(Errors, AllMissingFilesAtOnce) {
  const TemporaryFolder folder;
  const Dataset dataset = TFRecordDataset({{folder.file("no-1"), folder.file("no-2")}, true}).batch({.size = 1});
  const Status status = dataset.open().status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("no-1"), std::string::npos);
  EXPECT_NE(status.message().find("no-2"), std::string::npos);
}

TEST(Errors, RepeatOfNothingEnds) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {0, 0});
  for (const bool shuffled : {false, true}) {
    Dataset dataset = TFRecordDataset({paths, true}).repeat();
    if (shuffled) dataset = dataset.shuffle({.buffer_size = 5});
    EXPECT_FALSE(drain(dataset.batch({.size = 2}).parse(id_schema())).end.ok());
  }
  EXPECT_TRUE(drain(TFRecordDataset({paths, true}).batch({.size = 2}).parse(id_schema())).end.ok());
}

}  // namespace
}  // namespace headrace

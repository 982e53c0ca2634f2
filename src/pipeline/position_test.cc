#include "headrace/position.h"

#include <gtest/gtest.h>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

Dataset resumable(const std::vector<std::string>& paths, int threads = 2) {
  return TFRecordDataset({paths, true}, {.num_threads = threads})
      .interleave({.cycle_length = 3, .block_length = 2})
      .repeat(3)
      .shuffle({.buffer_size = 30, .seed = 9})
      .batch({.size = 10})
      .parse(full_schema());
}

TEST(Position, TheRestOfTheStreamFollowsFromEveryBatch) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {21, 0, 33, 17});
  const auto whole = drain(resumable(paths)).batches;
  ASSERT_EQ(whole.size(), 22U);
  for (std::size_t stop = 0; stop <= whole.size(); ++stop) {
    Result<Pipeline> first = resumable(paths).open();
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(drain(*first, stop).batches.size(), stop);
    const Result<Position> position = first->position();
    ASSERT_TRUE(position.ok()) << position.status().to_string();
    EXPECT_EQ(position->batches, static_cast<std::int64_t>(stop));
    Result<Pipeline> second = resumable(paths, 1 + static_cast<int>(stop % 3)).open(*position);
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    const std::vector<std::vector<std::int64_t>> rest(whole.begin() + static_cast<std::ptrdiff_t>(stop), whole.end());
    EXPECT_EQ(drain(*second).batches, rest) << "after batch " << stop;
  }
}

TEST(Position, CompressedShardsResumeToo) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {21, 33, 17}, CompressionType::kGzip);
  const auto whole = drain(resumable(paths)).batches;
  Result<Pipeline> first = resumable(paths).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 9);
  Result<Pipeline> second = resumable(paths).open(*first->position());
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(drain(*second).batches, (std::vector<std::vector<std::int64_t>>(whole.begin() + 9, whole.end())));
}

TEST(Position, EarlierBatchesAreKept) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {200, 200, 400});
  const auto whole = drain(resumable(paths)).batches;
  Result<Pipeline> first = resumable(paths).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 100);
  for (const int back : {0, 1, 7, 64}) {
    const Result<Position> position = first->position(back);
    ASSERT_TRUE(position.ok()) << position.status().to_string();
    EXPECT_EQ(position->batches, 100 - back);
    Result<Pipeline> second = resumable(paths).open(*position);
    ASSERT_TRUE(second.ok());
    const auto begin = whole.begin() + 100 - back;
    EXPECT_EQ(drain(*second, 10).batches, (std::vector<std::vector<std::int64_t>>(begin, begin + 10)));
  }
  EXPECT_EQ(first->position(65).status().code(), StatusCode::kInvalidArgument);
}

TEST(Position, MovedDataResumes) {
  const TemporaryFolder here;
  const TemporaryFolder there;
  Result<Pipeline> first = resumable(write_shards(here, {50, 50})).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 3);
  EXPECT_TRUE(resumable(write_shards(there, {50, 50})).open(*first->position()).ok());
}

TEST(Position, OtherFilesAndOtherOpsAreRefused) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const std::vector<std::string> paths = write_shards(folder, {50, 50});
  Result<Pipeline> first = resumable(paths).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 3);
  const Position position = *first->position();

  const Status files = resumable(write_shards(other, {50, 51})).open(position).status();
  EXPECT_EQ(files.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(files.message().find("list of files"), std::string::npos);

  const Status ops = TFRecordDataset({paths, true}).batch({.size = 10}).parse(full_schema()).open(position).status();
  EXPECT_EQ(ops.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(ops.message().find("shuffle(buffer_size=30"), std::string::npos);

  Position format = position;
  format.format = 2;
  EXPECT_NE(resumable(paths).open(format).status().message().find("format 2"), std::string::npos);
}

TEST(Position, DamagedStatesAreErrorsNotCrashes) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {50, 50});
  Result<Pipeline> first = resumable(paths).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 3);
  const Position position = *first->position();
  ASSERT_FALSE(position.data.empty());
  for (std::size_t length = 1; length < position.data.size(); length += 3) {
    Position cut = position;
    cut.data.resize(length);
    EXPECT_FALSE(resumable(paths).open(cut).ok()) << length;
  }
  // Any flipped character: an error, or a stream that is wrong but ends.
  for (std::size_t i = 0; i < position.data.size(); ++i) {
    Position flipped = position;
    flipped.data[i] = flipped.data[i] == 'A' ? 'z' : 'A';
    Result<Pipeline> second = resumable(paths).open(flipped);
    if (second.ok()) drain(*second, 1000);
  }
}

}  // namespace
}  // namespace headrace

// Late reading: which shards are located, what the places are, and what loading finds in a file that is damaged or changed.
#include "record/record_loader.h"
#include "record/record_locator.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::framed;
using testing::payload_of;
using testing::ScratchFolder;
using testing::shard_bytes;
using testing::SourceWorld;

constexpr std::size_t kLarge = kLateBytes;

const SourceOptions kLate{.late_reading = true};

Result<std::span<const std::uint8_t>> load(RecordLoader& loader, const RecordBlock& block, std::uint32_t index,
                                           std::uint8_t* memory) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const File> file, loader.open(block.shard));
  return loader.load(*file, block, index, memory);
}

struct Located {
  std::vector<std::string> payloads;  // as the loader reads them
  std::vector<Status> failures;       // of the loader
  std::size_t located = 0;
  std::optional<ReadStep> last;  // nothing: the rest is for a ShardReader
  ShardPlace place;
};

Located locate(SourceWorld& world, const SourceOptions& options = kLate, ShardPlace start = {}) {
  Located all;
  const SourceContext context = world.context();
  RecordLocator locator(context, options, 0, start);
  RecordLoader loader(world.shards, options.read.verify);
  for (;;) {
    ShardPiece piece;
    all.last = locator.step(true, &piece);
    all.place = locator.place();
    if (all.last != ReadStep::kBlock) return all;
    EXPECT_TRUE(piece.block->located());
    const auto records = static_cast<std::uint32_t>(piece.block->records.size());
    for (std::uint32_t i = 0; i < records; ++i) {
      std::vector<std::uint8_t> memory(RecordLoader::room_for(piece.block->records[i].length));
      const auto payload = load(loader, *piece.block, i, memory.data());
      if (payload.ok()) {
        all.payloads.emplace_back(payload->begin(), payload->end());
      } else {
        all.failures.push_back(payload.status());
      }
    }
    all.located += records;
    const RecordRun whole{piece.block, 0, records};
    world.blocks.release({&whole, 1});
  }
}

std::vector<std::string> payloads(std::size_t records, std::size_t bytes) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < records; ++i) all.push_back(payload_of(0, i, bytes));
  return all;
}

TEST(LateReading, LocatesAndLoadsEveryRecord) {
  const ScratchFolder folder;
  SourceWorld world({folder.write("a", shard_bytes(0, 300, kLarge))});
  const Located got = locate(world);
  EXPECT_EQ(got.payloads, payloads(300, kLarge));
  EXPECT_EQ(got.last, ReadStep::kEnd);
  EXPECT_EQ(got.place.ordinal, 300U);
  EXPECT_EQ(got.place.offset, 300 * (kLarge + kFrameBytes));
  EXPECT_EQ(world.blocks.bytes_in_use(), 0);
}

TEST(LateReading, SmallAndEmptyRecordsBehindALargeOneAreLocatedToo) {
  const ScratchFolder folder;
  const std::string large = payload_of(0, 0, kLarge);
  SourceWorld world({folder.write("a", framed(large) + framed("") + framed("x") + framed(large))});
  const Located got = locate(world);
  EXPECT_EQ(got.payloads, (std::vector<std::string>{large, "", "x", large}));
  EXPECT_EQ(got.last, ReadStep::kEnd);
}

TEST(LateReading, GoesOnInTheMiddle) {
  const ScratchFolder folder;
  SourceWorld world({folder.write("a", shard_bytes(0, 5, kLarge))});
  const Located got = locate(world, kLate, {3, 3 * (kLarge + kFrameBytes)});
  EXPECT_EQ(got.payloads, (std::vector<std::string>{payload_of(0, 3, kLarge), payload_of(0, 4, kLarge)}));
  EXPECT_EQ(world.lengths->find(0), nullptr) << "only a walk from the start knows all lengths";
}

TEST(LateReading, WhatIsForAShardReader) {
  const ScratchFolder folder;
  const std::string large = shard_bytes(0, 2, kLarge);
  const auto not_located = [](const std::string& path, const SourceOptions& options = kLate) {
    SourceWorld world({path});
    const Located got = locate(world, options);
    return got.located == 0 && !got.last && got.place.offset == 0;
  };
  EXPECT_TRUE(not_located(folder.write("small", shard_bytes(0, 2, kLarge - 1))));
  EXPECT_TRUE(not_located(folder.write("empty", "")));
  EXPECT_TRUE(not_located(folder.write("short", "TFRecord")));
  EXPECT_TRUE(not_located(folder.write("text", std::string(100'000, 'x'))));
  EXPECT_TRUE(not_located(folder.path("missing")));
  const std::string path = folder.write("large", large);
  EXPECT_TRUE(not_located(path, {}));
  EXPECT_TRUE(not_located(path, {.read = {.on_corrupt = OnCorrupt::kSkip}, .late_reading = true}));
  EXPECT_TRUE(not_located(path, {.read = {.compression = CompressionType::kGzip}, .late_reading = true}));
  EXPECT_FALSE(not_located(path));
  EXPECT_FALSE(not_located(path, {.read = {.compression = CompressionType::kNone}, .late_reading = true}));
}

TEST(LateReading, StopsBeforeWhatIsNotAWholeRecord) {
  const ScratchFolder folder;
  const std::string good = shard_bytes(0, 3, kLarge);
  std::string bad_header = framed(payload_of(0, 3, kLarge));
  bad_header[0] ^= 1;
  const std::string whole = framed(payload_of(0, 3, kLarge));
  for (const std::string& tail : {bad_header, whole.substr(0, whole.size() - 1), whole.substr(0, kHeaderBytes),
                                  whole.substr(0, kHeaderBytes - 1), std::string(1, '\0')}) {
    SourceWorld world({folder.write("a", good + tail)});
    const Located got = locate(world);
    EXPECT_EQ(got.payloads, payloads(3, kLarge)) << tail.size();
    EXPECT_FALSE(got.last) << tail.size();
    EXPECT_EQ(got.place.ordinal, 3U);
    EXPECT_EQ(got.place.offset, good.size());
  }
  SourceWorld world({folder.write("b", good)});
  const Located got = locate(world, {.read = {.max_record_bytes = kLarge - 1}, .late_reading = true});
  EXPECT_EQ(got.located, 0U);
  EXPECT_FALSE(got.last);
}

TEST(LateReading, TheWholeStreamIsThatOfAShardReader) {
  const ScratchFolder folder;
  std::string cut = shard_bytes(0, 200, kLarge);
  cut.resize(cut.size() - 20);
  const std::vector<std::string> paths{folder.write("a", cut), folder.write("b", shard_bytes(1, 30, 100))};
  const auto read = [&paths](bool late) {
    SourceWorld world(paths);
    const SourceOptions options{.cycle_length = 2, .block_length = 7, .late_reading = late};
    auto source = make_source(world.context(), options);
    source->begin_epoch(0);
    testing::PulledRecords all = testing::pull_all(source.get(), &world.blocks);
    source.reset();
    world.close();
    return all;
  };
  const testing::PulledRecords late = read(true);
  const testing::PulledRecords early = read(false);
  ASSERT_EQ(early.ids.size(), 199U + 30U);
  ASSERT_EQ(late.ids.size(), early.ids.size());
  for (std::size_t i = 0; i < early.ids.size(); ++i) {
    EXPECT_EQ(late.ids[i].shard, early.ids[i].shard);
    EXPECT_EQ(late.ids[i].ordinal, early.ids[i].ordinal);
    EXPECT_EQ(late.ids[i].offset, early.ids[i].offset);
    EXPECT_EQ(late.payloads[i].size(), early.payloads[i].size());
  }
  EXPECT_EQ(late.failure.to_string(), early.failure.to_string());
  EXPECT_EQ(late.failure.code(), StatusCode::kDataLoss);
}

TEST(LateReading, LengthsAreLearntOnceAndCheckedByTheLoader) {
  const ScratchFolder folder;
  const std::string path = folder.write("a", shard_bytes(0, 10, kLarge));
  SourceWorld world({path});
  locate(world);
  ASSERT_NE(world.lengths->find(0), nullptr);
  EXPECT_EQ(*world.lengths->find(0), std::vector<std::uint32_t>(10, kLarge));
  EXPECT_EQ(locate(world).payloads, payloads(10, kLarge));

  // Written again with other records: the first one is as long as it was.
  folder.write("a", framed(payload_of(0, 0, kLarge)) + framed(payload_of(0, 1, 2 * kLarge)));
  const Located changed = locate(world);
  EXPECT_EQ(changed.located, 10U);
  ASSERT_EQ(changed.failures.size(), 9U);
  for (const Status& failure : changed.failures) {
    EXPECT_EQ(failure.code(), StatusCode::kDataLoss);
    EXPECT_NE(failure.message().find("the file is not what it was when its records were located"), std::string::npos);
  }
}

TEST(LateReading, DamageIsFoundByTheLoader) {
  const ScratchFolder folder;
  std::string bytes = shard_bytes(0, 3, kLarge);
  const std::size_t second = kLarge + kFrameBytes;
  for (const std::size_t at :
       {second + kHeaderBytes, second + kHeaderBytes + kLarge - 1, second + kHeaderBytes + kLarge}) {
    bytes[at] ^= 8;
    SourceWorld world({folder.write("a", bytes)});
    const Located got = locate(world);
    bytes[at] ^= 8;
    EXPECT_EQ(got.payloads.size(), 2U);
    ASSERT_EQ(got.failures.size(), 1U);
    EXPECT_EQ(got.failures[0].message(),
              "corrupted record at " + std::to_string(second) + ": the checksum of its data does not match");
    EXPECT_EQ(locate(world, {.read = {.verify = Verify::kHeader}, .late_reading = true}).failures.size(), 0U);
    EXPECT_EQ(locate(world, {.read = {.verify = Verify::kOff}, .late_reading = true}).failures.size(), 0U);
  }
}

TEST(LateReading, ARestoredBufferIsLocatedToo) {
  const ScratchFolder folder;
  SourceWorld world({folder.write("a", shard_bytes(0, 9, kLarge))});
  const auto fetcher = make_fetcher(world.context(), kLate);
  const std::vector<RecordId> ids{{0, 7, 7 * (kLarge + kFrameBytes)}, {0, 2, 2 * (kLarge + kFrameBytes)}};
  std::vector<RecordRun> runs;
  ASSERT_TRUE(fetcher->fetch(ids, &runs).ok());
  ASSERT_EQ(runs.size(), 2U);
  RecordLoader loader(world.shards, Verify::kFull);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(runs[i].block->located());
    std::vector<std::uint8_t> memory(RecordLoader::room_for(kLarge));
    const auto payload = load(loader, *runs[i].block, 0, memory.data());
    ASSERT_TRUE(payload.ok()) << payload.status().to_string();
    EXPECT_EQ(std::string(payload->begin(), payload->end()), payload_of(0, ids[i].ordinal, kLarge));
  }
  world.blocks.release(runs);
  runs.clear();
  const std::vector<RecordId> wrong{{0, 1, kLarge}};
  EXPECT_EQ(fetcher->fetch(wrong, &runs).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(runs.empty());
}

TEST(LateReading, MoreShardsThanTheLoaderKeepsOpen) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < 150; ++shard) {
    paths.push_back(folder.write(std::to_string(shard), shard_bytes(shard, 1, kLarge)));
  }
  SourceWorld world(paths);
  RecordLoader loader(world.shards, Verify::kFull);
  RecordBlock block;
  block.records.push_back({kHeaderBytes, kLarge});
  std::vector<std::uint8_t> memory(RecordLoader::room_for(kLarge));
  for (const int round : {0, 1}) {
    for (block.shard = 0; block.shard < paths.size(); ++block.shard) {
      const auto payload = load(loader, block, 0, memory.data());
      ASSERT_TRUE(payload.ok()) << round << ": " << payload.status().to_string();
      EXPECT_EQ(std::string(payload->begin(), payload->end()), payload_of(block.shard, 0, kLarge));
    }
  }
}

}  // namespace
}  // namespace headrace

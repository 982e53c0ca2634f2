// Order, failures, stopping, saving and restoring of the source. The expected orders are those of
// tf.data.Dataset.interleave(TFRecordDataset, cycle_length, block_length), written down from TensorFlow 2.21.
#include <thread>

#include "headrace/records.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::framed;
using testing::payload_of;
using testing::pull_all;
using testing::PulledRecords;
using testing::ScratchFolder;
using testing::shard_bytes;
using testing::SourceWorld;

std::vector<std::string> write_shards(const ScratchFolder& folder, const std::vector<std::size_t>& records,
                                      std::size_t bytes = 0) {
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < records.size(); ++shard) {
    paths.push_back(folder.write("shard" + std::to_string(shard), shard_bytes(shard, records[shard], bytes)));
  }
  return paths;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

struct OrderCase {
  std::vector<std::size_t> records;
  std::int64_t cycle_length;
  std::int64_t block_length;
  const char* order;
};

const OrderCase kOrders[] = {
    {{3, 0, 5, 1, 2}, 2, 1, "0.0 0.1 2.0 0.2 2.1 2.2 3.0 2.3 2.4 4.0 4.1"},
    {{3, 0, 5, 1, 2}, 3, 2, "0.0 0.1 2.0 2.1 0.2 3.0 2.2 2.3 4.0 4.1 2.4"},
    {{0, 0, 4, 0}, 2, 2, "2.0 2.1 2.2 2.3"},
    {{1, 7, 2, 0, 3, 4}, 4, 3, "0.0 1.0 1.1 1.2 2.0 2.1 4.0 4.1 4.2 1.3 1.4 1.5 5.0 5.1 5.2 1.6 5.3"},
    {{2, 3}, 5, 1, "0.0 1.0 0.1 1.1 1.2"},
    {{4, 4, 4}, 1, 2, "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3"},
    {{5, 1, 1, 1, 6}, 2, 4, "0.0 0.1 0.2 0.3 1.0 0.4 2.0 3.0 4.0 4.1 4.2 4.3 4.4 4.5"},
    {{0, 0}, 2, 1, ""},
};

TEST(InterleaveSource, ShardsWithoutRecordsAreOneWarning) {
  const ScratchFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {0, 2, 0});
  for (const std::size_t empty : {0U, 2U}) {  // the list of files tells only of those of 0 bytes
    Result<RecordWriter> writer = RecordWriter::open(paths[empty], {.compression = CompressionType::kGzip});
    ASSERT_TRUE(writer.ok() && writer->close().ok());
  }
  SourceWorld world(paths);
  auto list = std::make_shared<ShardList>(*world.shards);
  for (ShardFile& file : list->files) file.bytes = std::filesystem::file_size(file.path);
  world.shards = std::move(list);
  const auto source = make_source(world.context(), {.cycle_length = 1});
  source->begin_epoch(0);
  EXPECT_EQ(pull_all(source.get(), &world.blocks).payloads.size(), 2U);
  EXPECT_EQ(world.warnings.texts(), std::vector<std::string>{"a shard without records: " + folder.path("shard0")});
}

TEST(InterleaveSource, OrderIsThatOfTensorFlow) {
  for (const OrderCase& order : kOrders) {
    const ScratchFolder folder;
    SourceWorld world(write_shards(folder, order.records));
    for (const std::size_t pull_size : {1U, 3U, 1000U}) {
      const auto source =
          make_source(world.context(), {.cycle_length = order.cycle_length, .block_length = order.block_length});
      for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        source->begin_epoch(epoch);
        const PulledRecords all = pull_all(source.get(), &world.blocks, pull_size);
        EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
        EXPECT_EQ(joined(all.payloads), order.order);
      }
    }
    world.close();
    EXPECT_EQ(world.blocks.bytes_in_use(), 0);
  }
}

TEST(InterleaveSource, LargeAndSmallRecordsInManyBlocksKeepTheOrderOnAnyNumberOfThreads) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < 5; ++shard) {
    std::string bytes;
    for (std::size_t i = 0; i < 300; ++i) {
      const std::size_t size = i % 7 == 3 ? 40'000 + 1000 * shard + i : (i * 977) % 9000;
      bytes += framed(payload_of(shard, i, size));
    }
    paths.push_back(folder.write("shard" + std::to_string(shard), bytes));
  }
  std::vector<std::string> first;
  for (const int threads : {1, 4}) {
    SourceWorld world(paths, 0, threads);
    const auto source = make_source(world.context(), {.cycle_length = 3, .block_length = 4});
    source->begin_epoch(0);
    const PulledRecords all = pull_all(source.get(), &world.blocks, 57);
    ASSERT_TRUE(all.failure.ok()) << all.failure.to_string();
    ASSERT_EQ(all.payloads.size(), 1500U);
    if (first.empty()) first = all.payloads;
    EXPECT_EQ(all.payloads, first);
    EXPECT_EQ(world.probe.records.load(), 1500);
  }
}

TEST(InterleaveSource, NotDeterministicGivesEveryRecordOnceAndKeepsTheOrderWithinAShard) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {400, 3, 0, 500, 77}, 3000));
  const auto source =
      make_source(world.context(), {.read = {.deterministic = false}, .cycle_length = 3, .block_length = 2});
  source->begin_epoch(0);
  const PulledRecords all = pull_all(source.get(), &world.blocks);
  ASSERT_EQ(all.ids.size(), 980U);
  std::vector<std::uint64_t> next(5, 0);
  for (const RecordId& id : all.ids) EXPECT_EQ(id.ordinal, next[id.shard]++);
  EXPECT_EQ(next, (std::vector<std::uint64_t>{400, 3, 0, 500, 77}));
}

TEST(InterleaveSource, AFailureStandsAtItsPlaceAndStays) {
  const ScratchFolder folder;
  std::vector<std::string> paths = write_shards(folder, {3, 5, 4});
  std::string damaged = shard_bytes(1, 5);
  damaged[2 * framed("1.0").size() + kHeaderBytes] ^= 1;
  folder.write("shard1", damaged);
  SourceWorld world(paths);
  const auto source = make_source(world.context(), {.cycle_length = 2, .block_length = 1});
  source->begin_epoch(0);
  const PulledRecords all = pull_all(source.get(), &world.blocks, 4);
  EXPECT_EQ(joined(all.payloads), "0.0 1.0 0.1 1.1 0.2");
  EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss);
  EXPECT_EQ(all.failure.where().path, paths[1]);
  EXPECT_EQ(all.failure.where().record, 2);
  EXPECT_EQ(pull_all(source.get(), &world.blocks).failure.to_string(), all.failure.to_string());
}

TEST(InterleaveSource, SkippedRecordsAreCountedOnceOverEpochsAndLimited) {
  const ScratchFolder folder;
  std::vector<std::string> paths = write_shards(folder, {3, 5});
  std::string damaged = shard_bytes(1, 5);
  damaged[2 * framed("1.0").size() + kHeaderBytes] ^= 1;
  damaged[4 * framed("1.0").size() + kHeaderBytes] ^= 1;
  folder.write("shard1", damaged);
  for (const std::int64_t limit : {2, 1}) {
    SourceWorld world(paths, limit);
    const auto source = make_source(world.context(), {.read = {.on_corrupt = OnCorrupt::kSkip}, .cycle_length = 2});
    for (std::uint64_t epoch = 0; epoch < 2 && limit == 2; ++epoch) {
      source->begin_epoch(epoch);
      const PulledRecords all = pull_all(source.get(), &world.blocks);
      EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
      EXPECT_EQ(joined(all.payloads), "0.0 1.0 0.1 1.1 0.2 1.3");
      EXPECT_EQ(world.skipped.count(), 2);
    }
    if (limit == 1) {
      source->begin_epoch(0);
      const PulledRecords all = pull_all(source.get(), &world.blocks);
      EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss);
      EXPECT_NE(all.failure.message().find("max_skipped = 1"), std::string::npos) << all.failure.to_string();
    }
    EXPECT_NE(world.skipped.first().at(0).reason.to_string().find("record 2"), std::string::npos);
  }
}

TEST(InterleaveSource, AStopRequestEndsAPullThatWaits) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {10}), 0, 1);
  std::stop_source held;
  world.work->submit(0, [token = held.get_token()] {
    while (!token.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const auto source = make_source(world.context(), {});
  source->begin_epoch(0);
  std::stop_source stop;
  Result<std::size_t> got = std::size_t{0};
  std::thread puller([&] {
    std::vector<RecordRun> runs;
    got = source->pull(5, &runs, stop.get_token());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop.request_stop();
  puller.join();
  EXPECT_EQ(got.status().code(), StatusCode::kCancelled);
  held.request_stop();
}

TEST(InterleaveSource, RestoredBehindAnyRecordItContinuesExactly) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {7, 0, 3, 9, 1}, 20'000));
  const SourceOptions options{.cycle_length = 3, .block_length = 2};
  const auto whole_source = make_source(world.context(), options);
  whole_source->begin_epoch(0);
  const PulledRecords whole = pull_all(whole_source.get(), &world.blocks);
  ASSERT_EQ(whole.payloads.size(), 20U);
  for (std::size_t taken = 0; taken <= whole.payloads.size(); ++taken) {
    const auto source = make_source(world.context(), options);
    source->begin_epoch(0);
    ASSERT_EQ(pull_all(source.get(), &world.blocks, 3, taken).payloads.size(), taken);
    StateDelta state;
    source->save(&state);
    const auto restored = make_source(world.context(), options);
    const std::map<std::uint32_t, std::vector<RecordId>> no_slots;
    StateReader reader(state.words, &no_slots);
    ASSERT_TRUE(restored->restore(&reader, nullptr).ok());
    EXPECT_TRUE(reader.at_end());
    const PulledRecords rest = pull_all(restored.get(), &world.blocks);
    EXPECT_EQ(rest.payloads, std::vector<std::string>(whole.payloads.begin() + static_cast<std::ptrdiff_t>(taken),
                                                      whole.payloads.end()));
  }
}

TEST(InterleaveSource, AStateOfAnotherCycleIsRefused) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {4, 4, 4}));
  const auto source = make_source(world.context(), {.cycle_length = 3});
  source->begin_epoch(0);
  StateDelta state;
  source->save(&state);
  const std::map<std::uint32_t, std::vector<RecordId>> no_slots;
  StateReader reader(state.words, &no_slots);
  const auto other = make_source(world.context(), {.cycle_length = 2});
  EXPECT_EQ(other->restore(&reader, nullptr).code(), StatusCode::kInvalidArgument);
}

TEST(InterleaveSource, ABudgetThatIsUsedUpStillLetsEveryShardRead) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {40, 40, 40}, 30'000));
  world.blocks.set_budget(1);
  const auto source = make_source(world.context(), {.cycle_length = 3});
  source->begin_epoch(0);
  EXPECT_EQ(pull_all(source.get(), &world.blocks).payloads.size(), 120U);
}

TEST(InterleaveSource, OfLargeRecordsAVisitIsReadAheadAndNotMore) {
  const ScratchFolder folder;
  SourceWorld world(write_shards(folder, {40, 40, 40}, 30'000));
  const auto source = make_source(world.context(), {.cycle_length = 3, .block_length = 16});
  source->begin_epoch(0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (world.probe.records < 48 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  world.close();
  EXPECT_EQ(world.probe.records, 48);
}

}  // namespace
}  // namespace headrace

#include "headrace/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "pipeline/pipeline_impl.h"
#include "pipeline/pipeline_test_data.h"
#include "runtime/thread.h"

namespace headrace {
namespace {

using Ids = std::vector<std::int64_t>;

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(Pipeline, ReadsInListOrder) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {3, 4}), true};
  const Delivered got = drain(TFRecordDataset(files).batch({.size = 3}).parse(full_schema()));
  EXPECT_TRUE(got.end.ok());
  EXPECT_EQ(got.batches, (std::vector<Ids>{{0, 1, 2}, {3, 4, 5}, {6}}));
}

TEST(Pipeline, AllColumnsAreThere) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {5}), true};
  Result<Pipeline> pipeline = TFRecordDataset(files).batch({.size = 5}).parse(full_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  const Result<std::optional<Batch>> batch = pipeline->next();
  ASSERT_TRUE(batch.ok() && *batch);
  const Slice& slice = (*batch)->replicas[0];
  ASSERT_EQ(slice.columns.size(), 3U);
  EXPECT_EQ(reinterpret_cast<const float*>(slice.find("x")->values.data)[3], 1.5F);
  EXPECT_EQ(slice.find("s")->bytes_at(4), "4");
  EXPECT_EQ(slice.find("nothing"), nullptr);
}

TEST(Pipeline, CompressedShardsGiveTheSame) {
  const TemporaryFolder plain;
  const TemporaryFolder packed;
  const Dataset a = TFRecordDataset({write_shards(plain, {30, 7, 50}), true});
  const Dataset b = TFRecordDataset({write_shards(packed, {30, 7, 50}, CompressionType::kGzip), true});
  const auto steps = [](const Dataset& d) {
    return d.interleave({.cycle_length = 2, .block_length = 3})
        .shuffle({.buffer_size = 20, .seed = 3})
        .batch({.size = 8})
        .parse(id_schema());
  };
  const Delivered first = drain(steps(a));
  EXPECT_EQ(first.batches, drain(steps(b)).batches);
  EXPECT_EQ(sorted(first.flat()), range(0, 87));
}

TEST(Pipeline, SameStreamAtAnyThreadCount) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {300, 0, 171, 400, 33});
  std::vector<std::vector<Ids>> streams;
  for (const int threads : {1, 2, 5}) {
    const Dataset dataset = TFRecordDataset({paths, true}, {.num_threads = threads})
                                .interleave({.cycle_length = 3, .block_length = 4})
                                .repeat(2)
                                .shuffle({.buffer_size = 100, .seed = 42})
                                .batch({.size = 64})
                                .parse(full_schema());
    streams.push_back(drain(dataset).batches);
  }
  EXPECT_EQ(streams[0], streams[1]);
  EXPECT_EQ(streams[0], streams[2]);
}

TEST(Pipeline, EveryRecordOnceAnEpoch) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {40, 41, 42}), true};
  const Dataset dataset = TFRecordDataset(files)
                              .interleave({.cycle_length = 3})
                              .repeat(4)
                              .shuffle({.buffer_size = 50, .seed = 1})
                              .batch({.size = 41})
                              .parse(id_schema());
  const Ids all = drain(dataset).flat();
  ASSERT_EQ(all.size(), 4U * 123U);
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(123 * epoch);
    EXPECT_EQ(sorted(Ids(begin, begin + 123)), range(0, 123)) << epoch;
  }
  EXPECT_NE(Ids(all.begin(), all.begin() + 123), Ids(all.begin() + 123, all.begin() + 246));
}

TEST(Pipeline, EachIteratorIsTheNextEpoch) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {64}), true};
  const auto dataset = [&files](bool reshuffle) {
    return TFRecordDataset(files)
        .shuffle({.buffer_size = 64, .seed = 5, .reshuffle_each_iteration = reshuffle})
        .batch({.size = 16})
        .parse(id_schema());
  };
  const Dataset fresh = dataset(true);
  const Dataset same = dataset(false);
  const auto first = drain(fresh).batches;
  {
    const Result<Pipeline> unused = fresh.open();  // delivers nothing, so it does not count
    ASSERT_TRUE(unused.ok());
  }
  const auto second = drain(fresh).batches;
  EXPECT_NE(first, second);
  fresh.set_epoch(0);
  EXPECT_EQ(drain(fresh).batches, first);
  EXPECT_EQ(drain(fresh).batches, second);
  EXPECT_EQ(drain(same).batches, drain(same).batches);
}

TEST(Pipeline, ReplicasGetEqualSlicesInRowOrder) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {22}), true};
  const Dataset dataset = TFRecordDataset(files)
                              .batch({.size = 8})
                              .parse(id_schema())
                              .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1", "/CPU:2", "/CPU:3"}});
  Result<Pipeline> pipeline = dataset.open();
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(pipeline->replicas(), 4);
  std::vector<std::vector<std::int64_t>> rows;
  Ids all;
  for (;;) {
    const Result<std::optional<Batch>> batch = pipeline->next();
    ASSERT_TRUE(batch.ok());
    if (!*batch) break;
    rows.emplace_back();
    for (const Slice& slice : (*batch)->replicas) rows.back().push_back(slice.rows);
    const Ids more = ids(**batch);
    all.insert(all.end(), more.begin(), more.end());
  }
  EXPECT_EQ(rows, (std::vector<Ids>{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 1, 1}}));
  EXPECT_EQ(all, range(0, 22));
}

TEST(Pipeline, SlicesPerReplica) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {40}), true};
  Result<Pipeline> pipeline = TFRecordDataset(files)
                                  .batch({.size = 8})
                                  .parse(id_schema())
                                  .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}})
                                  .open();
  ASSERT_TRUE(pipeline.ok());
  std::vector<Ids> seen(2);
  {
    std::vector<Thread> threads;
    for (int r = 0; r < 2; ++r) {
      threads.emplace_back("replica", [&seen, &pipeline, r] {
        for (;;) {
          const Result<std::optional<Slice>> slice = pipeline->next_slice(r);
          if (!slice.ok() || !*slice) return;
          const auto* values = reinterpret_cast<const std::int64_t*>((*slice)->columns[0].values.data);
          seen[static_cast<std::size_t>(r)].insert(seen[static_cast<std::size_t>(r)].end(), values,
                                                   values + (*slice)->rows);
        }
      });
    }
  }
  Ids first;
  Ids second;
  for (std::int64_t batch = 0; batch < 5; ++batch) {
    for (std::int64_t i = 0; i < 4; ++i) {
      first.push_back(8 * batch + i);
      second.push_back(8 * batch + 4 + i);
    }
  }
  EXPECT_EQ(seen[0], first);
  EXPECT_EQ(seen[1], second);
  EXPECT_EQ(pipeline->next_slice(2).status().code(), StatusCode::kInvalidArgument);
}

TEST(Pipeline, CloseWakesAWaitingConsumer) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {10}), true};
  Result<Pipeline> pipeline = TFRecordDataset(files).repeat().batch({.size = 5}).parse(id_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  const Thread closer("closer", [&pipeline] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipeline->close();
  });
  Status end;
  while (end.ok()) {
    const Result<std::optional<Batch>> batch = pipeline->next();
    if (!batch.ok()) end = batch.status();
  }
  EXPECT_EQ(end.code(), StatusCode::kCancelled);
  pipeline->close();
  EXPECT_EQ(pipeline->next().status().code(), StatusCode::kCancelled);
}

TEST(Pipeline, BatchesOutliveTheirPipeline) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {10}), true};
  std::optional<Batch> kept;
  {
    Result<Pipeline> pipeline = TFRecordDataset(files).batch({.size = 10}).parse(full_schema()).open();
    ASSERT_TRUE(pipeline.ok());
    Result<std::optional<Batch>> batch = pipeline->next();
    ASSERT_TRUE(batch.ok());
    kept = std::move(*batch);
  }
  EXPECT_EQ(ids(*kept), range(0, 10));
  EXPECT_EQ(kept->replicas[0].find("s")->bytes_at(9), "9");
}

TEST(Pipeline, AConsumerThatKeepsEverythingIsNotBlocked) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {200}), true};
  Result<Pipeline> pipeline =
      TFRecordDataset(files, {.memory_bytes = 8 << 20}).repeat(5).batch({.size = 10}).parse(full_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  std::vector<Batch> kept;
  for (;;) {
    Result<std::optional<Batch>> batch = pipeline->next();
    ASSERT_TRUE(batch.ok()) << batch.status().to_string();
    if (!*batch) break;
    kept.push_back(std::move(**batch));
  }
  EXPECT_EQ(kept.size(), 100U);
  EXPECT_GT(pipeline->impl()->report().held_by_consumer_bytes, 0);
}

TEST(Pipeline, TooSmallABudgetSaysWhatIsNeeded) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {2000}), true};
  Result<Pipeline> pipeline =
      TFRecordDataset(files, {.memory_bytes = 10000}).batch({.size = 1000}).parse(full_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  const Status failure = pipeline->next().status();
  EXPECT_EQ(failure.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(failure.message().find("memory_bytes=10000 is too small"), std::string::npos) << failure.to_string();
  EXPECT_EQ(pipeline->next().status().code(), StatusCode::kResourceExhausted);
}

TEST(Pipeline, BatchesThatAreBeingParsedCountToo) {
  constexpr std::int64_t kRows = 20;
  constexpr std::int64_t kRecordBytes = 40'000;
  constexpr std::int64_t kBudget = 6 << 20;
  const TemporaryFolder folder;
  const std::string text(kRecordBytes, 'x');
  const std::string_view view = text;
  const std::int64_t id = 1;
  const float x = 1;
  const std::string record =
      ExampleBuilder().add_int64("id", {&id, 1}).add_float("x", {&x, 1}).add_bytes("s", {&view, 1}).build();
  write_records(folder.file("shard"), std::vector<std::string>(100, record));
  Result<Pipeline> pipeline =
      TFRecordDataset({{folder.file("shard")}, true}, {.num_threads = 8, .memory_bytes = kBudget})
          .repeat()
          .shuffle({.buffer_size = 50})
          .batch({.size = kRows})
          .parse(full_schema())
          .open();
  ASSERT_TRUE(pipeline.ok());
  ASSERT_TRUE(pipeline->next().ok());
  // Nobody takes a batch: what is begun comes to its end.
  std::int64_t bytes = 0;
  for (int same = 0; same < 10; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Report report = pipeline->impl()->report();
    if (report.batch_bytes != std::exchange(bytes, report.batch_bytes)) same = 0;
    ASSERT_LE(report.batch_bytes, kBudget + kRows * (kRecordBytes + 1000));
  }
  EXPECT_GE(bytes, kRows * kRecordBytes);
}

TEST(Pipeline, CardinalityIsKnownAfterAnEpoch) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {10, 11}), true};
  const Dataset dataset = TFRecordDataset(files).batch({.size = 4}).parse(id_schema());
  EXPECT_EQ(dataset.cardinality(), std::nullopt);
  EXPECT_EQ(drain(dataset).batches.size(), 6U);
  EXPECT_EQ(dataset.cardinality(), 6);
}

TEST(Pipeline, WithoutBatchOneRecordAtATime) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {3}), true};
  Result<Pipeline> pipeline = TFRecordDataset(files).skip(1).open();
  ASSERT_TRUE(pipeline.ok());
  for (std::int64_t id = 1; id < 3; ++id) {
    const Result<std::optional<Batch>> batch = pipeline->next();
    ASSERT_TRUE(batch.ok() && *batch);
    ASSERT_EQ((*batch)->global_rows, 1);
    EXPECT_EQ((*batch)->replicas[0].columns[0].bytes_at(0), example(id));
  }
  EXPECT_FALSE(*pipeline->next());
}

TEST(Pipeline, TwoPipelinesInOneProcess) {
  const TemporaryFolder folder;
  const Dataset dataset = TFRecordDataset({write_shards(folder, {100, 100}), true})
                              .interleave({.cycle_length = 2})
                              .batch({.size = 7})
                              .parse(full_schema());
  Result<Pipeline> a = dataset.open();
  Result<Pipeline> b = dataset.open();
  ASSERT_TRUE(a.ok() && b.ok());
  Delivered from_b;
  const Thread other("other", [&b, &from_b] { from_b = drain(*b); });
  const Delivered from_a = drain(*a);
  const_cast<Thread&>(other).join();
  EXPECT_EQ(from_a.batches, from_b.batches);
}

}  // namespace
}  // namespace headrace

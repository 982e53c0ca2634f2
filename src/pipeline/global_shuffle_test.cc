// Whole pipelines with shuffle("global"): each record once an epoch, the same stream on any number of threads, resumed at any
// batch, and the steps around it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

#include "headrace/index.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

class GlobalShuffle : public ::testing::Test {
 protected:
  GlobalShuffle() { setenv("HEADRACE_CACHE_DIR", folder_.file("cache").c_str(), 1); }
  ~GlobalShuffle() override { unsetenv("HEADRACE_CACHE_DIR"); }

  const TemporaryFolder folder_;
};

ShuffleOptions options(std::optional<std::int64_t> window_bytes = std::nullopt) {
  return {.seed = 9, .global = true, .window_bytes = window_bytes};
}

Dataset source(const std::vector<std::string>& paths, int threads = 2) {
  return TFRecordDataset({paths, true}, {.num_threads = threads});
}

Dataset batched(const Dataset& records, std::int64_t size = 10) {
  return records.batch({.size = size}).parse(id_schema());
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

Filter above_20() {
  const FilterTerm term = {.key = "id", .comparison = Comparison::kGreater, .operands = std::vector<std::int64_t>{20}};
  return {.terms = {term}, .steps = {FilterStep::kTerm}};
}

// From every record by itself to one window of everything.
const std::optional<std::int64_t> kWindows[] = {std::nullopt, 1, 100'000, 1'000'000};

// 10 KB of text in each, so that pieces have about six records.
std::vector<std::string> write_wide(const TemporaryFolder& folder, const std::vector<int>& sizes) {
  std::vector<std::string> paths;
  std::int64_t id = 0;
  for (std::size_t shard = 0; shard < sizes.size(); ++shard) {
    std::vector<std::string> records;
    for (int i = 0; i < sizes[shard]; ++i, ++id) {
      const std::string text(static_cast<std::size_t>(4'000 + 12'000 * (id % 2)), 'x');
      const std::string_view view = text;
      records.push_back(ExampleBuilder().add_int64("id", {&id, 1}).add_bytes("s", {&view, 1}).build());
    }
    paths.push_back(folder.file("wide-" + std::to_string(shard)));
    write_records(paths.back(), records);
  }
  return paths;
}

TEST_F(GlobalShuffle, EveryRecordComesOnceAnEpochInAnotherOrder) {
  for (const auto& paths : {write_shards(folder_, {21, 0, 33, 1, 17}), write_wide(folder_, {21, 0, 33, 1, 17})}) {
    for (const auto& window : kWindows) {
      for (const bool repeat_first : {false, true}) {
        const Dataset records = repeat_first ? source(paths).repeat(3).shuffle(options(window))
                                             : source(paths).shuffle(options(window)).repeat(3);
        const Delivered delivered = drain(batched(records));
        EXPECT_TRUE(delivered.end.ok()) << delivered.end.to_string();
        const std::vector<std::int64_t> all = delivered.flat();
        ASSERT_EQ(all.size(), 216U);
        std::set<std::vector<std::int64_t>> epochs;
        for (int epoch = 0; epoch < 3; ++epoch) {
          const std::vector<std::int64_t> ids(all.begin() + epoch * 72, all.begin() + (epoch + 1) * 72);
          EXPECT_EQ(sorted(ids), range(0, 72));
          EXPECT_NE(ids, range(0, 72));
          epochs.insert(ids);
        }
        EXPECT_EQ(epochs.size(), 3U);
        EXPECT_EQ(batched(records).find_indexes().ok(), true);
      }
    }
  }
}

TEST_F(GlobalShuffle, TheStreamIsTheSameOnAnyNumberOfThreadsAndResumesAtAnyBatch) {
  const std::vector<std::string> paths = write_wide(folder_, {21, 0, 33, 1, 17});
  for (const auto& window : kWindows) {
    const auto dataset = [&](int threads) {
      return batched(source(paths, threads).shuffle(options(window)).repeat(2), 7);
    };
    const auto whole = drain(dataset(1)).batches;
    ASSERT_EQ(whole.size(), 21U);
    for (const int threads : {2, 4, 16}) EXPECT_EQ(drain(dataset(threads)).batches, whole);
    for (std::size_t stop = 0; stop <= whole.size(); ++stop) {
      Result<Pipeline> first = dataset(2).open();
      ASSERT_TRUE(first.ok());
      drain(*first, stop);
      const Result<Position> position = first->position();
      ASSERT_TRUE(position.ok()) << position.status().to_string();
      EXPECT_LT(position->data.size(), 100U);
      Result<Pipeline> second = dataset(1 + static_cast<int>(stop % 3)).open(*position);
      ASSERT_TRUE(second.ok()) << second.status().to_string();
      const std::vector<std::vector<std::int64_t>> rest(whole.begin() + static_cast<std::ptrdiff_t>(stop), whole.end());
      EXPECT_EQ(drain(*second).batches, rest) << "after batch " << stop;
    }
  }
}

TEST_F(GlobalShuffle, WhatStandsBeforeItChoosesRecords) {
  const std::vector<std::string> paths = write_shards(folder_, {30, 0, 33, 9});
  struct Case {
    std::function<Dataset(const Dataset&)> before;
    std::vector<std::int64_t> wanted;
  };
  std::vector<std::int64_t> thirds;
  for (std::int64_t i = 1; i < 72; i += 3) thirds.push_back(i);
  const Case cases[] = {
      {[](const Dataset& d) { return d.take(40); }, range(0, 40)},
      {[](const Dataset& d) { return d.skip(40); }, range(40, 72)},
      {[](const Dataset& d) { return d.skip(10).take(5).skip(2); }, range(12, 15)},
      {[](const Dataset& d) { return d.shard(3, 1); }, thirds},
      {[](const Dataset& d) { return d.shard(3, 1).skip(2).take(2).repeat(1); }, {7, 10}},
      {[](const Dataset& d) { return d.take(0); }, {}},
      {[](const Dataset& d) { return d.skip(-1); }, {}},
      {[](const Dataset& d) { return d.shard(100, 80); }, {}},
      {[](const Dataset& d) { return d.shard(INT64_MAX, 5).shard(INT64_MAX, 0); }, {5}},
      {[](const Dataset& d) { return d.shard(2, 1, {.by = ShardBy::kFile}); }, range(63, 72)},
      {[](const Dataset& d) { return d.shard(4, 1, {.by = ShardBy::kRange}).skip(2); }, range(20, 36)},
      {[](const Dataset& d) { return d.shard(5, 0, {.drop_remainder = true}); },
       {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65}},
      {[](const Dataset& d) { return d.shard(9, 8, {.by = ShardBy::kFile}); }, {}},
  };
  for (const Case& tried : cases) {
    for (const auto& window : kWindows) {
      const Dataset dataset = batched(tried.before(source(paths)).shuffle(options(window)));
      const Delivered delivered = drain(dataset);
      EXPECT_TRUE(delivered.end.ok()) << delivered.end.to_string();
      EXPECT_EQ(sorted(delivered.flat()), tried.wanted);
      EXPECT_EQ(dataset.cardinality(), static_cast<std::int64_t>(delivered.batches.size()));
    }
  }
}

TEST_F(GlobalShuffle, StepsBehindItSeeItsOrder) {
  const std::vector<std::string> paths = write_shards(folder_, {30, 33, 9});
  for (const auto& window : kWindows) {
    const Dataset records = source(paths).shuffle(options(window));
    const std::vector<std::int64_t> all = drain(batched(records)).flat();
    std::vector<std::int64_t> some;
    for (std::size_t i = 5; i < 50; i += 2) some.push_back(all[i]);
    EXPECT_EQ(drain(batched(records.take(50).skip(5).shard(2, 0))).flat(), some);
    std::vector<std::int64_t> large;
    std::copy_if(all.begin(), all.end(), std::back_inserter(large), [](std::int64_t id) { return id > 20; });
    EXPECT_EQ(drain(batched(records.filter(above_20()))).flat(), large);
  }
}

TEST_F(GlobalShuffle, NoRecordAtAll) {
  const std::vector<std::string> paths = write_shards(folder_, {0, 0});
  for (const auto& window : kWindows) {
    EXPECT_TRUE(drain(batched(source(paths).shuffle(options(window)))).batches.empty());
    EXPECT_TRUE(drain(batched(source(paths).shuffle(options(window)).repeat(3))).batches.empty());
    EXPECT_TRUE(drain(batched(source(paths).repeat(0).shuffle(options(window)))).batches.empty());
    EXPECT_EQ(drain(batched(source(paths).repeat().shuffle(options(window)))).end.code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(GlobalShuffle, TheGrammarSaysWhatCannotStandBeforeIt) {
  const Dataset records = source({"x"});
  const Filter filter = above_20();
  for (const Dataset& wrong :
       {records.interleave({}).shuffle(options()), records.filter(filter).shuffle(options()),
        records.shuffle({.buffer_size = 5}).shuffle(options()), records.repeat().take(5).shuffle(options()),
        records.shuffle({.buffer_size = 5, .window_bytes = 5}), records.shuffle({.mix_epochs = true, .global = true}),
        records.shuffle({.global = true, .window_bytes = 0}), records.take(5).shard(2, 0, {.by = ShardBy::kRange}),
        records.shard(2, 0, {.by = ShardBy::kFile}).shard(2, 0, {.by = ShardBy::kRange}),
        records.assert_cardinality(5).shard(2, 0, {.by = ShardBy::kFile}),
        records.shard(2, 0, {.by = ShardBy::kFile}).assert_cardinality(5),
        records.filter(filter).shard(2, 0, {.drop_remainder = true}),
        TFRecordDataset({{"x"}, true}, {.on_corrupt = OnCorrupt::kSkip}).shard(2, 0, {.drop_remainder = true}),
        TFRecordDataset({{"x"}, true}, {.on_mismatch = OnMismatch::kSkip}).shard(2, 0, {.drop_remainder = true})}) {
    EXPECT_EQ(wrong.status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(records.shard(2, 0, {.by = ShardBy::kFile}).interleave({}).status().ok());
  EXPECT_TRUE(records.interleave({}).shard(2, 0, {.by = ShardBy::kRange}).status().ok());
  EXPECT_TRUE(records.assert_cardinality(5).shuffle(options()).repeat().take(3).status().ok());
}

TEST_F(GlobalShuffle, ACompressedFileIsRefusedByName) {
  const std::vector<std::string> paths = write_shards(folder_, {30}, CompressionType::kGzip);
  const Status refused = batched(source(paths).shuffle(options())).open().status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("gzip"), std::string::npos) << refused.to_string();
  EXPECT_EQ(refused.where().path, paths[0]);
}

TEST_F(GlobalShuffle, AStatedCardinalityIsComparedAtOnce) {
  const std::vector<std::string> paths = write_shards(folder_, {30, 4});
  EXPECT_TRUE(batched(source(paths).assert_cardinality(34).shuffle(options())).open().ok());
  EXPECT_EQ(batched(source(paths).assert_cardinality(35).shuffle(options())).open().status().code(),
            StatusCode::kDataLoss);
  EXPECT_EQ(batched(source(paths).assert_cardinality(33).shuffle(options())).open().status().code(),
            StatusCode::kInvalidArgument);
}

void flip(const std::string& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_F(GlobalShuffle, DamageStandsAtItsPlaceOnAnyNumberOfThreads) {
  const std::vector<std::string> paths = write_shards(folder_, {30, 33, 9});
  for (const std::string& path : paths) ASSERT_TRUE(write_index(path, IndexPlace::kCache).ok());
  const RecordIndex index = *read_index(*index_path(paths[1], IndexPlace::kCache));
  std::streamoff offset = 0;
  for (int i = 0; i < 7; ++i) offset += 16 + index.lengths[static_cast<std::size_t>(i)];
  for (const auto& window : kWindows) {
    const auto dataset = [&](int threads) { return batched(source(paths, threads).shuffle(options(window)), 1); };
    const std::vector<std::int64_t> whole = drain(dataset(1)).flat();
    flip(paths[1], offset + 12);
    std::optional<Delivered> first;
    for (const int threads : {1, 2, 16}) {
      const Delivered delivered = drain(dataset(threads));
      EXPECT_EQ(delivered.end.code(), StatusCode::kDataLoss);
      EXPECT_EQ(delivered.end.where().record, 7) << delivered.end.to_string();
      const std::vector<std::int64_t> before(whole.begin(),
                                             whole.begin() + static_cast<std::ptrdiff_t>(delivered.batches.size()));
      EXPECT_EQ(delivered.flat(), before);
      if (!first) first = delivered;
      EXPECT_EQ(delivered.batches, first->batches);
    }
    const Dataset skipping =
        batched(TFRecordDataset({paths, true}, {.on_corrupt = OnCorrupt::kSkip}).shuffle(options(window)).repeat(2), 1);
    Result<Pipeline> pipeline = skipping.open();
    ASSERT_TRUE(pipeline.ok());
    std::vector<std::int64_t> without = whole;
    std::erase(without, 37);
    const std::vector<std::int64_t> got = drain(*pipeline).flat();
    ASSERT_EQ(got.size(), 2 * without.size());
    EXPECT_EQ(std::vector<std::int64_t>(got.begin(), got.begin() + std::ssize(without)), without);
    flip(paths[1], offset + 12);
  }
}

TEST_F(GlobalShuffle, AnIndexThatIsNotRightIsAFailureThatNamesIt) {
  const std::vector<std::string> paths = write_shards(folder_, {30});
  ASSERT_TRUE(write_index(paths[0], IndexPlace::kBeside).ok());
  const Dataset dataset = batched(source(paths).shuffle(options()), 1);
  Result<Pipeline> pipeline = dataset.open();
  ASSERT_TRUE(pipeline.ok());
  // The same size and the same two words, other records between them.
  const RecordIndex index = *find_index(paths[0]).value();
  std::string bytes(index.identity->bytes, '\0');
  std::ifstream(paths[0], std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::fill(bytes.begin() + 20, bytes.end() - 20, 'x');
  std::ofstream(paths[0], std::ios::binary) << bytes;
  const Delivered delivered = drain(dataset);
  EXPECT_EQ(delivered.end.code(), StatusCode::kDataLoss);
  EXPECT_NE(delivered.end.message().find(".shard-0.hrindex"), std::string::npos) << delivered.end.to_string();
  EXPECT_EQ(delivered.end.where().path, paths[0]);
}

TEST_F(GlobalShuffle, ItsOrderIsFrozen) {
  const std::vector<std::string> paths = write_shards(folder_, {9, 0, 7});
  EXPECT_EQ(drain(batched(source(paths).shuffle(options()))).flat(),
            (std::vector<std::int64_t>{7, 9, 3, 2, 4, 14, 0, 1, 6, 15, 12, 10, 8, 13, 5, 11}));
  EXPECT_EQ(drain(batched(source(paths).shuffle(options(300)))).flat(),
            (std::vector<std::int64_t>{10, 12, 14, 11, 9, 15, 13, 0, 4, 6, 1, 2, 8, 5, 3, 7}));
  EXPECT_EQ(drain(batched(source(paths).shuffle(options(1 << 20)))).flat(),
            (std::vector<std::int64_t>{3, 6, 1, 0, 9, 15, 13, 7, 14, 5, 10, 11, 4, 12, 8, 2}));
}

TEST_F(GlobalShuffle, AMemoryLimitIsKeptWithTwoWindows) {
  const std::vector<std::string> paths = write_wide(folder_, {200, 200});
  const auto open = [&](std::int64_t memory_bytes) {
    return drain(batched(
        TFRecordDataset({paths, true}, {.num_threads = 1, .memory_bytes = memory_bytes}).shuffle(options(500'000))));
  };
  EXPECT_EQ(sorted(open(8'000'000).flat()), range(0, 400));
}

}  // namespace
}  // namespace headrace

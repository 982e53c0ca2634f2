#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "batch/position_journal.h"
#include "batch/stages.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

/// Its input, with a count of the records that came from it.
class Counted final : public RecordStage {
 public:
  Counted(std::unique_ptr<RecordStage> input, std::int64_t* came) : input_(std::move(input)), came_(came) {}

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    auto got = input_->pull(max_records, runs, stop);
    if (got.ok()) *came_ += static_cast<std::int64_t>(*got);
    return got;
  }
  void begin_epoch(std::uint64_t epoch) override { input_->begin_epoch(epoch); }
  void save(StateDelta* state) override { input_->save(state); }
  Status restore(StateReader* state, RecordFetcher* fetcher) override { return input_->restore(state, fetcher); }

 private:
  const std::unique_ptr<RecordStage> input_;
  std::int64_t* const came_;
};

/// A shuffle over a made-up source, read record by record.
class ShuffleTest : public ::testing::Test {
 protected:
  void make(const ShuffleStageOptions& options, const FakeSourceOptions& source) {
    shards_ = source.shards;
    came_ = 0;
    fetcher_ = make_fake_fetcher(&blocks_, source);
    auto input = std::make_unique<Counted>(make_fake_source(&blocks_, source), &came_);
    stage_ = make_shuffle({.op_id = 1, .blocks = &blocks_}, std::move(input), options);
  }

  void TearDown() override {
    stage_.reset();
    EXPECT_EQ(blocks_.bytes_in_use(), 0);
  }

  /// Numbers of the next `limit` records at most; what stands behind them goes to status_.
  std::vector<std::int64_t> read(std::size_t limit, std::size_t pull_size = 7) {
    std::vector<std::int64_t> numbers;
    while (numbers.size() < limit) {
      std::vector<RecordRun> runs;
      const auto got = stage_->pull(std::min(pull_size, limit - numbers.size()), &runs, {});
      status_ = got.status();
      for (const RecordRun& run : runs) {
        EXPECT_EQ(run.count, 1U);
        numbers.push_back(fake_number(record_id(run), shards_));
      }
      blocks_.release(runs);
      if (!got.ok() || *got == 0) break;
    }
    return numbers;
  }

  BlockPool blocks_;
  std::uint32_t shards_ = 1;
  std::int64_t came_ = 0;  ///< records that the source handed out
  std::unique_ptr<RecordFetcher> fetcher_;
  std::unique_ptr<RecordStage> stage_;
  Status status_;
};

std::uint64_t hash_of(const std::vector<std::int64_t>& numbers) {
  std::uint64_t hash = 0;
  for (const std::int64_t number : numbers)
    hash = mix64(hash + 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(number));
  return hash;
}

// The numbers come from a model of eight lines outside of this program; they are the stream that users resume.
TEST_F(ShuffleTest, StreamVersion1IsFrozen) {
  make({.buffer_size = 4, .seed = 42, .epochs = 2}, {.records = 9});
  stage_->begin_epoch(0);
  EXPECT_EQ(read(100), (std::vector<std::int64_t>{0, 4, 1, 6, 7, 3, 5, 8, 2, 2, 4, 3, 6, 0, 1, 5, 7, 8}));
  make({.buffer_size = 2000, .seed = 42, .epochs = -1}, {.records = 10007, .shards = 16});
  stage_->begin_epoch(0);
  EXPECT_EQ(hash_of(read(35000, 256)), 2347845612298401673U);
  make({.buffer_size = 2000, .seed = 7, .reshuffle_each_iteration = false, .epochs = 3}, {.records = 900});
  stage_->begin_epoch(5);
  EXPECT_EQ(hash_of(read(3000)), 8872631032503690706U);
}

TEST_F(ShuffleTest, EveryRecordOnceAnEpochAndNoEarlier) {
  for (const std::int64_t buffer : {1, 2, 10, 49, 50, 51, 1000}) {
    SCOPED_TRACE("buffer " + std::to_string(buffer));
    make({.buffer_size = buffer, .seed = 3, .epochs = -1}, {.records = 50, .shards = 4, .chunk_seed = 5});
    stage_->begin_epoch(0);
    std::set<std::vector<std::int64_t>> orders;
    for (int epoch = 0; epoch < 6; ++epoch) {
      std::vector<std::int64_t> numbers = read(50);
      EXPECT_EQ(stage_->epoch_offset(), static_cast<std::uint64_t>(epoch));
      orders.insert(numbers);
      for (std::size_t place = 0; place < numbers.size(); ++place) {
        // A record can come at most a buffer earlier than it stands in the input.
        EXPECT_LT(numbers[place], static_cast<std::int64_t>(place) + buffer);
      }
      std::sort(numbers.begin(), numbers.end());
      for (std::size_t i = 0; i < 50; ++i) ASSERT_EQ(numbers[i], static_cast<std::int64_t>(i)) << "epoch " << epoch;
    }
    EXPECT_EQ(orders.size(), buffer == 1 ? 1U : 6U) << "a new order every epoch";
    stage_.reset();
  }
}

TEST_F(ShuffleTest, FusedEpochsHaveTheOrderOfSingleOnes) {
  for (const std::int64_t buffer : {4, 50, 80}) {
    make({.buffer_size = buffer, .seed = 3, .epochs = 4}, {.records = 50});
    stage_->begin_epoch(2);
    const std::vector<std::int64_t> fused = read(1000);
    ASSERT_EQ(fused.size(), 200U);
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      make({.buffer_size = buffer, .seed = 3, .epochs = 1}, {.records = 50});
      stage_->begin_epoch(2 + epoch);
      const auto from = fused.begin() + static_cast<std::ptrdiff_t>(epoch) * 50;
      EXPECT_EQ(read(1000), std::vector<std::int64_t>(from, from + 50)) << "buffer " << buffer << ", epoch " << epoch;
    }
  }
}

TEST_F(ShuffleTest, WithoutReshuffleEveryEpochAndIteratorHasOneOrder) {
  for (const std::int64_t buffer : {4, 50, 80}) {
    make({.buffer_size = buffer, .seed = 3, .reshuffle_each_iteration = false, .epochs = -1}, {.records = 50});
    stage_->begin_epoch(0);
    const std::vector<std::int64_t> first = read(50);
    EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
    for (int epoch = 1; epoch < 4; ++epoch) EXPECT_EQ(read(50), first);
    stage_->begin_epoch(9);
    EXPECT_EQ(read(50), first);
  }
}

TEST_F(ShuffleTest, SeedsAndEpochsDiffer) {
  std::set<std::vector<std::int64_t>> orders;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::uint64_t epoch : {0, 1, 2}) {
      make({.buffer_size = 50, .seed = seed}, {.records = 50});
      stage_->begin_epoch(epoch);
      orders.insert(read(50));
    }
  }
  EXPECT_EQ(orders.size(), 9U);
}

TEST_F(ShuffleTest, PlacesAreEvenlyUsed) {
  // Place of record 0 over 4000 epochs of 8 records: 500 +- 4.5 sigma each.
  make({.buffer_size = 8, .seed = 1, .epochs = -1}, {.records = 8});
  stage_->begin_epoch(0);
  std::vector<int> places(8, 0);
  for (int epoch = 0; epoch < 4000; ++epoch) {
    const std::vector<std::int64_t> numbers = read(8, 8);
    ++places[static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), 0) - numbers.begin())];
  }
  for (const int count : places) EXPECT_NEAR(count, 500, 95);
}

TEST_F(ShuffleTest, RecordsOfTheNextEpochReadBeforeAFailureComeOut) {
  // The second epoch fails: before, within and behind the records that fill slots of the first one.
  for (const std::int64_t fail_at : {0, 1, 7, 19, 20, 21, 35}) {
    const FakeSourceOptions source{.records = 50, .fail_at = fail_at, .fail_epoch = 4, .shards = 3, .chunk_seed = 2};
    const ShuffleStageOptions options{.buffer_size = 20, .seed = 1, .epochs = 3};
    make(options, source);
    stage_->begin_epoch(3);
    const std::vector<std::int64_t> all = read(1000);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(50 + fail_at));
    EXPECT_EQ(status_.where().record, fail_at);
    const std::set<std::int64_t> first(all.begin(), all.begin() + 50);
    const std::set<std::int64_t> second(all.begin() + 50, all.end());
    EXPECT_EQ(first.size(), 50U) << "the first epoch is whole";
    EXPECT_EQ(second.size(), static_cast<std::size_t>(fail_at)) << "and what stood before the failure follows it";

    make(options, source);
    stage_->begin_epoch(3);
    DecodedState state;
    for (std::size_t done = 1; done <= all.size(); ++done) {
      read(1, 1);
      StateDelta delta;
      stage_->save(&delta);
      apply(delta, &state);
      std::unique_ptr<RecordStage> saved = std::move(stage_);
      make(options, source);
      StateReader reader(state.words, &state.slots);
      ASSERT_TRUE(stage_->restore(&reader, fetcher_.get()).ok());
      EXPECT_EQ(read(1000), std::vector<std::int64_t>(all.begin() + static_cast<std::ptrdiff_t>(done), all.end()))
          << "restored behind " << done << ", failure at " << fail_at;
      EXPECT_EQ(status_.code(), StatusCode::kDataLoss);
      stage_ = std::move(saved);
    }
  }
}

TEST_F(ShuffleTest, EndlessShuffleOfNothingIsAFailure) {
  make({.buffer_size = 20, .seed = 1, .epochs = -1}, {.records = 0});
  stage_->begin_epoch(0);
  EXPECT_TRUE(read(10).empty());
  EXPECT_EQ(status_.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status_.message().find("no record in any shard"), std::string::npos);
}

TEST_F(ShuffleTest, HoldsNoMoreThanItsBuffer) {
  const FakeSourceOptions source{.records = 1000, .block_records = 1};
  make({.buffer_size = 10, .seed = 1, .epochs = -1}, source);
  stage_->begin_epoch(0);
  read(1, 1);
  const std::int64_t full = blocks_.bytes_in_use();
  for (int i = 0; i < 3000; ++i) {
    read(1, 1);
    // Blocks of one record have at most three size classes here.
    ASSERT_LE(blocks_.bytes_in_use(), 2 * full) << "record " << i;
  }
}

// Between two epochs nothing waits for a buffer that is filled again: for each record that goes, one comes.
TEST_F(ShuffleTest, TheEdgeOfAnEpochAsksForNoMoreThanTheMiddle) {
  for (const std::int64_t buffer : {1, 10, 99, 100}) {
    for (const std::size_t pull : {1U, 7U, 256U}) {
      SCOPED_TRACE("buffer " + std::to_string(buffer) + ", pulls of " + std::to_string(pull));
      make({.buffer_size = buffer, .seed = 1, .epochs = -1}, {.records = 100, .shards = 3});
      stage_->begin_epoch(0);
      std::int64_t gone = static_cast<std::int64_t>(read(1, 1).size());
      EXPECT_GE(came_, buffer);
      while (gone < 1000) {
        const std::int64_t before = came_;
        const std::int64_t got = static_cast<std::int64_t>(read(pull, pull).size());
        gone += got;
        ASSERT_LE(came_ - before, got) << "at record " << gone;
        ASSERT_LE(came_, gone + buffer);
        ASSERT_GE(came_, gone + buffer - 1) << "at record " << gone;  // it is as full as in the middle
      }
      stage_.reset();
    }
  }
}

TEST_F(ShuffleTest, SavesOnlyWhatChanged) {
  make({.buffer_size = 100, .seed = 1, .epochs = -1}, {.records = 1000});
  stage_->begin_epoch(0);
  StateDelta delta;
  read(4);
  stage_->save(&delta);
  EXPECT_EQ(delta.slots.size(), 100U);
  for (int batch = 0; batch < 600; ++batch) {
    read(4);
    delta = {};
    stage_->save(&delta);
    EXPECT_LE(delta.slots.size(), 8U) << "batch " << batch;
  }
}

TEST_F(ShuffleTest, RefusesStatesThatItCannotHaveWritten) {
  const FakeSourceOptions source{.records = 50};
  const ShuffleStageOptions options{.buffer_size = 10, .seed = 1, .epochs = 2};
  make(options, source);
  stage_->begin_epoch(0);
  read(20);
  StateDelta delta;
  stage_->save(&delta);
  DecodedState good;
  apply(delta, &good);

  const auto restore = [&](const DecodedState& state) {
    make(options, source);
    StateReader reader(state.words, &state.slots);
    return stage_->restore(&reader, fetcher_.get()).code();
  };
  EXPECT_EQ(restore(good), StatusCode::kOk);
  // Behind the two words of the source: first epoch, epoch, input epoch, position, input records, current, next, size.
  for (const auto& [word, value] : std::vector<std::pair<std::size_t, std::uint64_t>>{
           {4, 2}, {4, 7}, {5, 0}, {7, 11}, {8, 9}, {9, 11}, {9, 3}, {9, UINT64_MAX}}) {
    DecodedState bad = good;
    bad.words[word] = value;
    EXPECT_EQ(restore(bad), StatusCode::kInvalidArgument) << "word " << word << " = " << value;
  }
  DecodedState bad = good;
  bad.slots[1].pop_back();
  EXPECT_EQ(restore(bad), StatusCode::kInvalidArgument);
  bad = good;
  bad.slots[1][3].ordinal = 51;
  EXPECT_EQ(restore(bad), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace headrace::testing

#include <gtest/gtest.h>

#include "batch/position_journal.h"
#include "batch/stages.h"
#include "support/fake_source.h"

namespace headrace {
namespace {

using testing::make_fake_source;

// Keeps what it is told of, as soon as the pass has ended.
class FakeCache final : public BatchCache {
 public:
  std::optional<std::int64_t> batches() override {
    return is_whole_ ? std::optional(static_cast<std::int64_t>(known_.size())) : std::nullopt;
  }
  KnownBatch at(std::int64_t slot) const override { return known_[static_cast<std::size_t>(slot)]; }
  std::shared_ptr<CacheFilling> fill() override {
    ++fills;
    known_.clear();
    return std::make_shared<Filling>(this);
  }
  void keep(const RecordBatch& batch) { known_.push_back({batch.rows, batch.epoch}); }

  int fills = 0;

 private:
  class Filling final : public CacheFilling {
   public:
    explicit Filling(FakeCache* cache) : cache_(cache) {}
    Status end(std::int64_t batches) override {
      cache_->is_whole_ = batches == static_cast<std::int64_t>(cache_->known_.size());
      return {};
    }
    Status wait(const std::stop_token&) override { return {}; }

   private:
    FakeCache* const cache_;
  };

  std::vector<KnownBatch> known_;
  bool is_whole_ = false;
};

struct World {
  explicit World(std::int64_t records)
      : stage(make_cache(
            {}, make_batch({.op_id = 1, .blocks = &blocks}, make_fake_source(&blocks, {.records = records}), 4, false),
            &cache)) {}

  // Slots of the batches up to the end; those of no record negative, less one.
  std::vector<std::int64_t> read(std::size_t limit = 1000) {
    std::vector<std::int64_t> slots;
    while (slots.size() < limit) {
      auto batch = stage->pull({});
      EXPECT_TRUE(batch.ok()) << batch.status().to_string();
      if (!batch.ok() || !batch->has_value()) break;
      const CachePlace& place = *(*batch)->cache;
      slots.push_back(is_cached(**batch) ? -1 - place.slot : place.slot);
      if (!is_cached(**batch)) cache.keep(**batch);
      if (is_for_cache_alone(**batch)) slots.back() += 100;
      last = (*batch)->state;
      epochs_before = place.epochs_before;
      blocks.release((*batch)->runs);
    }
    return slots;
  }

  BlockPool blocks;
  FakeCache cache;
  std::unique_ptr<BatchStage> stage;
  StateDelta last;
  std::int64_t epochs_before = 0;
};

TEST(CacheBatches, TheSecondPassHasNoRecords) {
  World world(10);
  world.stage->begin_epoch(3);
  EXPECT_EQ(world.read(), (std::vector<std::int64_t>{0, 1, 2}));
  world.stage->begin_epoch(4);
  EXPECT_EQ(world.read(), (std::vector<std::int64_t>{-1, -2, -3}));
  EXPECT_EQ(world.epochs_before, 4);
  EXPECT_EQ(world.cache.fills, 1);
  EXPECT_EQ(world.cache.at(2).rows, 2);
  EXPECT_EQ(world.cache.at(2).epoch, 0) << "the input is read as epoch 0";
}

TEST(CacheBatches, APassThatStopsEarlyIsReadAgain) {
  World world(10);
  world.stage->begin_epoch(0);
  EXPECT_EQ(world.read(2), (std::vector<std::int64_t>{0, 1}));
  world.stage->begin_epoch(1);
  EXPECT_EQ(world.read(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(world.cache.fills, 2);
}

TEST(CacheBatches, ARestoredPassReadsWhatIsBeforeItForTheCacheAlone) {
  World first(10);
  first.stage->begin_epoch(2);
  (void)first.read(2);
  EXPECT_TRUE(first.last.slots.empty());

  World second(10);
  StateReader reader(first.last.words, nullptr);
  ASSERT_TRUE(second.stage->restore(&reader, nullptr).ok());
  EXPECT_EQ(second.read(), (std::vector<std::int64_t>{100, 101, 2}));
  second.stage->begin_epoch(3);
  EXPECT_EQ(second.read(), (std::vector<std::int64_t>{-1, -2, -3}));

  StateReader again(first.last.words, nullptr);
  ASSERT_TRUE(second.stage->restore(&again, nullptr).ok());
  EXPECT_EQ(second.read(), (std::vector<std::int64_t>{-3})) << "of a whole cache nothing is read";
}

TEST(CacheBatches, APositionBehindTheCachedBatchesIsRefused) {
  World world(4);
  world.stage->begin_epoch(0);
  EXPECT_EQ(world.read(), (std::vector<std::int64_t>{0}));
  const std::vector<std::uint64_t> words = {0, 2, 2};
  StateReader reader(words, nullptr);
  ASSERT_TRUE(world.stage->restore(&reader, nullptr).ok());
  EXPECT_EQ(world.stage->pull({}).status().code(), StatusCode::kInvalidArgument);
}

TEST(CacheBatches, NothingIsCachedAsWell) {
  World world(0);
  world.stage->begin_epoch(0);
  EXPECT_TRUE(world.read().empty());
  world.stage->begin_epoch(1);
  EXPECT_TRUE(world.read().empty());
  EXPECT_EQ(world.cache.fills, 1);
}

}  // namespace
}  // namespace headrace

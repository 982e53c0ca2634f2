#include <gtest/gtest.h>

#include <thread>

#include "record/block.h"

namespace headrace {
namespace {

TEST(BlockPool, SizesFitAndAreAtMostAFifthTooLarge) {
  BlockPool pool;
  for (std::size_t bytes = 1024; bytes < 3'000'000; bytes += bytes / 3 + 7) {
    RecordBlock* block = pool.acquire(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(block->capacity, bytes);
    EXPECT_LE(block->capacity, bytes + bytes / 4);
    block->data[block->capacity + kBlockPadding - 1] = 1;
    pool.discard(block);
  }
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BlockPool, ABlockComesBackWhenItsLastRecordIsReleased) {
  BlockPool pool;
  RecordBlock* block = pool.acquire(5000);
  block->records = {{12, 100}, {128, 100}, {244, 100}};
  const auto bytes = static_cast<std::int64_t>(block->capacity);
  pool.publish(block);
  const RecordRun runs[] = {{block, 0, 1}, {block, 2, 1}};
  pool.release(runs);
  EXPECT_EQ(pool.bytes_in_use(), bytes);
  const RecordRun last{block, 1, 1};
  pool.release({&last, 1});
  EXPECT_EQ(pool.bytes_in_use(), 0);
  EXPECT_EQ(pool.bytes_free(), bytes);
  RecordBlock* again = pool.acquire(5000);
  EXPECT_EQ(again, block);
  EXPECT_TRUE(again->records.empty());
  pool.publish(again);  // without records: straight back
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BlockPool, FreeMemoryIsBounded) {
  BlockPool pool;
  std::vector<RecordBlock*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(pool.acquire(1 << 20));
  for (RecordBlock* block : blocks) pool.discard(block);
  EXPECT_LE(pool.bytes_free(), std::int64_t{100} << 20);
}

TEST(BlockPool, ManyThreads) {
  BlockPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool] {
      for (std::size_t i = 0; i < 2000; ++i) {
        RecordBlock* block = pool.acquire(1000 + i % 7 * 900);
        block->records.push_back({12, 1});
        pool.publish(block);
        const RecordRun run{block, 0, 1};
        pool.release({&run, 1});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BlockPool, PinnedRecordsOutliveThePool) {
  auto pool = std::make_unique<BlockPool>();
  RecordBlock* block = pool->acquire(1000);
  block->data[0] = 7;
  block->records = {{0, 1}, {1, 1}, {2, 1}};
  pool->publish(block);
  const std::int64_t bytes = pool->bytes_in_use();
  std::shared_ptr<RecordPin> first = pool->pin({{block, 0, 1}});
  std::shared_ptr<RecordPin> second = pool->pin({{block, 1, 1}});

  // The third record is still on its way: the block is the pipeline's.
  first->hand_over();
  EXPECT_EQ(pool->bytes_in_use(), bytes);
  EXPECT_EQ(pool->bytes_held(), 0);
  const RecordRun third{block, 2, 1};
  pool->release({&third, 1});
  EXPECT_EQ(pool->bytes_held(), 0);  // the second batch is not delivered yet
  second->hand_over();
  EXPECT_EQ(pool->bytes_in_use(), 0);
  EXPECT_EQ(pool->bytes_held(), bytes);
  first.reset();
  EXPECT_EQ(pool->bytes_held(), bytes);

  const std::uint8_t* data = block->data;
  pool.reset();
  EXPECT_EQ(*data, 7);
  second.reset();
}

TEST(BlockPool, ABatchThatIsDroppedReleasesItsRecords) {
  BlockPool pool;
  RecordBlock* block = pool.acquire(1000);
  block->records = {{0, 1}};
  pool.publish(block);
  pool.pin({{block, 0, 1}}).reset();
  EXPECT_EQ(pool.bytes_in_use(), 0);
  EXPECT_EQ(pool.bytes_held(), 0);
  EXPECT_GT(pool.bytes_free(), 0);
}

TEST(BlockPool, FreeBlocksFillUpABudgetAndMakeRoom) {
  BlockPool pool;
  EXPECT_TRUE(pool.has_room());
  pool.set_budget(10'000);
  RecordBlock* first = pool.acquire(4096);
  RecordBlock* second = pool.acquire(5120);
  EXPECT_TRUE(pool.has_room());
  RecordBlock* beyond = pool.acquire(20'480);  // what is needed is granted
  EXPECT_FALSE(pool.has_room());
  EXPECT_EQ(pool.largest_bytes(), 20'480);
  pool.discard(beyond);
  EXPECT_EQ(pool.bytes_free(), 0);
  pool.discard(first);
  pool.discard(second);
  EXPECT_EQ(pool.bytes_free(), 9216);
  EXPECT_EQ(pool.acquire(4096), first);
  pool.discard(first);
  pool.discard(pool.acquire(8192));  // of another size: the free ones would be too much beside it
  EXPECT_EQ(pool.bytes_free(), 8192);
  pool.set_budget(1);
  EXPECT_EQ(pool.bytes_free(), 0);
}

TEST(BlockPool, WithoutRecyclingBlocksStayUntilThePoolEnds) {
  BlockPool pool;
  RecordBlock* block = pool.acquire(1000);
  block->records = {{0, 1}};
  pool.publish(block);
  pool.stop_recycling();
  const RecordRun run{block, 0, 1};
  pool.release({&run, 1});
  pool.release({&run, 1});  // twice, as after a failure in between
  EXPECT_EQ(pool.bytes_free(), 0);
  EXPECT_NE(pool.acquire(1000), block);
}

}  // namespace
}  // namespace headrace

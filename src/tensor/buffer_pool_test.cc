#include "tensor/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace headrace {
namespace {

TEST(BufferPool, AlignsAndSizesEveryBuffer) {
  BufferPool pool;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{257}, std::size_t{320},
                                  std::size_t{321}, std::size_t{65536}, std::size_t{3'000'001}}) {
    const BufferPtr buffer = pool.acquire(bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % kColumnAlignment, 0U);
    std::memset(buffer->data(), 0xA5, bytes);
  }
}

TEST(BufferPool, KeepsNoMoreThanItMay) {
  BufferPool pool(1'000'000);
  BufferPtr small = pool.acquire(600'000);
  BufferPtr other = pool.acquire(600'000);
  BufferPtr large = pool.acquire(2'000'000);
  large.reset();
  EXPECT_EQ(pool.bytes_free(), 0);
  small.reset();
  other.reset();
  EXPECT_GE(pool.bytes_free(), 600'000);
  EXPECT_LE(pool.bytes_free(), 1'000'000);
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BufferPool, RecyclesTheSameMemory) {
  BufferPool pool;
  const std::uint8_t* first = pool.acquire(100'000)->data();
  EXPECT_GE(pool.bytes_free(), 100'000);
  EXPECT_EQ(pool.bytes_in_use(), 0);
  const BufferPtr again = pool.acquire(99'000);  // the same size class
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(pool.bytes_free(), 0);
  EXPECT_GE(pool.bytes_in_use(), 99'000);
  EXPECT_LE(pool.bytes_in_use(), 125'000);
}

TEST(BufferPool, ABufferThatIsOutIsNeverHandedOutAgain) {
  BufferPool pool;
  std::vector<BufferPtr> held;
  std::set<const std::uint8_t*> addresses;
  for (int i = 0; i < 100; ++i) {
    held.push_back(pool.acquire(1000));
    addresses.insert(held.back()->data());
  }
  EXPECT_EQ(addresses.size(), 100U);
}

TEST(BufferPool, MemoryNotNeededGoesBackToTheSystem) {
  BufferPool pool;
  {
    std::vector<BufferPtr> burst;
    for (int i = 0; i < 20; ++i) burst.push_back(pool.acquire(1 << 20));
  }
  EXPECT_GE(pool.bytes_free(), 20 << 20);
  for (int i = 0; i < 600; ++i) (void)pool.acquire(1 << 20);  // one at a time is enough now
  EXPECT_LE(pool.bytes_free(), 2 << 20);
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BufferPool, ABufferOutlivesItsPool) {
  auto pool = std::make_unique<BufferPool>();
  BufferPtr buffer = pool->acquire(5000);
  pool.reset();
  std::memset(buffer->data(), 1, buffer->size());
  buffer.reset();
}

// Refuses what would go beyond `most` bytes, and notes what is out.
class CountedMemory : public HostMemory {
 public:
  std::uint8_t* allocate(std::size_t bytes) override {
    std::uint8_t* data = used + bytes <= most ? system->allocate(bytes) : nullptr;
    if (data != nullptr) sizes[data] = bytes;
    used += data != nullptr ? bytes : 0;
    return data;
  }
  void free(std::uint8_t* data, std::size_t bytes) override {
    EXPECT_EQ(sizes[data], bytes);
    sizes.erase(data);
    used -= bytes;
    system->free(data, bytes);
  }

  std::shared_ptr<HostMemory> system = system_memory();
  std::map<std::uint8_t*, std::size_t> sizes;
  std::size_t used = 0;
  std::size_t most = 1 << 20;
};

TEST(BufferPool, TakesItsMemoryFromWhereItIsTold) {
  const auto memory = std::make_shared<CountedMemory>();
  auto pool = std::make_unique<BufferPool>(memory);
  BufferPtr kept = pool->acquire(5000);
  EXPECT_GE(memory->used, 5000U);
  EXPECT_EQ(pool->acquire(2 << 20), nullptr);
  for (int i = 0; i < 600; ++i) (void)pool->acquire(1000);
  (void)pool->acquire(300'000);
  for (int i = 0; i < 600; ++i) (void)pool->acquire(1000);
  EXPECT_LT(memory->used, 300'000U) << "what was not needed went back";
  pool.reset();
  EXPECT_TRUE(memory->sizes.contains(kept->data()));
  kept.reset();
  EXPECT_EQ(memory->used, 0U);
}

TEST(BufferPool, NoMemoryIsNull) {
  BufferPool pool;
  EXPECT_EQ(pool.acquire(std::size_t{1} << 62), nullptr);
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

TEST(BufferPool, FreeBuffersCanBeDropped) {
  BufferPool pool;
  const BufferPtr kept = pool.acquire(3000);
  pool.acquire(3000).reset();
  EXPECT_GT(pool.bytes_free(), 0);
  pool.drop_free();
  EXPECT_EQ(pool.bytes_free(), 0);
  std::memset(kept->data(), 1, kept->size());
}

TEST(BufferPool, ManyThreads) {
  BufferPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        const auto bytes = static_cast<std::size_t>(1 + (i * 37 + t) % 5000);
        const BufferPtr buffer = pool.acquire(bytes);
        std::memset(buffer->data(), t, bytes);
        ASSERT_EQ(buffer->data()[bytes - 1], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.bytes_in_use(), 0);
}

}  // namespace
}  // namespace headrace

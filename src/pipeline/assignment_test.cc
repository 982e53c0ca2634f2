// shard() by file and by range: what each worker reads, that all of it comes once, and that equal shares are equal.
#include "pipeline/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

class Assigned : public ::testing::Test {
 protected:
  Assigned() { setenv("HEADRACE_CACHE_DIR", folder_.file("cache").c_str(), 1); }
  ~Assigned() override { unsetenv("HEADRACE_CACHE_DIR"); }

  const TemporaryFolder folder_;
};

Dataset source(const std::vector<std::string>& paths) { return TFRecordDataset({paths, true}, {.num_threads = 2}); }
Dataset batched(const Dataset& records) { return records.batch({.size = 5}).parse(id_schema()); }

TEST_F(Assigned, AllShareTheRecordsWithoutGapOrOverlap) {
  for (const CompressionType compression : {CompressionType::kNone, CompressionType::kGzip}) {
    const std::vector<std::string> paths = write_shards(folder_, {21, 0, 33, 1, 17}, compression);
    for (const ShardBy by : {ShardBy::kFile, ShardBy::kRange}) {
      for (const bool drop : {false, true}) {
        for (const std::int64_t workers : {1, 2, 3, 9}) {
          std::vector<std::int64_t> all;
          std::vector<std::size_t> sizes;
          for (std::int64_t worker = 0; worker < workers; ++worker) {
            const Dataset own = source(paths).shard(workers, worker, {.by = by, .drop_remainder = drop});
            const Delivered in_order = drain(batched(own));
            EXPECT_TRUE(in_order.end.ok()) << in_order.end.to_string();
            const std::vector<std::int64_t> ids = in_order.flat();
            EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
            std::vector<std::int64_t> interleaved =
                drain(batched(own.interleave({.cycle_length = 3, .block_length = 2}))).flat();
            std::sort(interleaved.begin(), interleaved.end());
            EXPECT_EQ(interleaved, ids);
            EXPECT_EQ(drain(batched(own.repeat(2))).flat().size(), 2 * ids.size());
            ASSERT_TRUE(*own.find_indexes() || by == ShardBy::kFile);
            if (*own.find_indexes()) {
              EXPECT_EQ(own.cardinality(), std::ssize(ids));
            }
            all.insert(all.end(), ids.begin(), ids.end());
            sizes.push_back(ids.size());
          }
          const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
          if (drop) {
            EXPECT_EQ(*least, *most);
          }
          if (by == ShardBy::kRange) {
            EXPECT_LE(*most - *least, 1U);
            EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
          }
          std::sort(all.begin(), all.end());
          EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
          if (!drop) {
            EXPECT_EQ(all, range(0, 72));
          }
        }
      }
    }
  }
}

TEST_F(Assigned, RecordsModuloWithEqualSharesKnowWhereToEnd) {
  const std::vector<std::string> paths = write_shards(folder_, {21, 33, 17});
  for (std::int64_t worker = 0; worker < 4; ++worker) {
    const Dataset own = source(paths).skip(1).repeat(2).shard(4, worker, {.drop_remainder = true});
    EXPECT_EQ(drain(batched(own)).flat().size(), 140U / 4);
    EXPECT_EQ(own.cardinality(), std::nullopt) << "nothing is looked for unasked";
    ASSERT_TRUE(*own.find_indexes());
    EXPECT_EQ(own.cardinality(), 35);
    const Dataset stated = source(paths).assert_cardinality(71).shard(4, worker, {.drop_remainder = true});
    EXPECT_EQ(drain(batched(stated)).flat().size(), 17U);
  }
}

TEST_F(Assigned, ARangeResumesInTheMiddle) {
  const std::vector<std::string> paths = write_shards(folder_, {21, 33, 17});
  const Dataset own = batched(source(paths).interleave({.cycle_length = 2}).shard(2, 1, {.by = ShardBy::kRange}));
  const auto whole = drain(own).batches;
  for (std::size_t stop = 0; stop <= whole.size(); ++stop) {
    Result<Pipeline> first = own.open();
    ASSERT_TRUE(first.ok());
    drain(*first, stop);
    Result<Pipeline> second = own.open(*first->position());
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    EXPECT_EQ(drain(*second).batches,
              (std::vector<std::vector<std::int64_t>>(whole.begin() + static_cast<std::ptrdiff_t>(stop), whole.end())));
  }
}

TEST_F(Assigned, NoIndexIsMadeForWhatDoesNotNeedIt) {
  const std::vector<std::string> paths = write_shards(folder_, {21, 33, 17});
  drain(batched(source(paths).shard(2, 0, {.by = ShardBy::kFile})));
  drain(batched(source(paths).shard(2, 0)));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("cache")));
  EXPECT_FALSE(*source(paths).find_indexes());
  ASSERT_TRUE(source(paths).make_indexes().ok());
  EXPECT_EQ(source(paths).cardinality(), std::nullopt);
  EXPECT_TRUE(*source(paths).find_indexes());
}

}  // namespace
}  // namespace headrace

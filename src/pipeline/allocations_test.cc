// In steady state a running pipeline allocates per batch and per block, never per record.
#include <gtest/gtest.h>

#include "pipeline/pipeline_test_data.h"
#include "support/allocation_count.h"

namespace headrace {
namespace {

// Heap allocations of all threads while `batches` batches of `size` rows go through.
std::int64_t allocations_per_batch(const std::vector<std::string>& paths, std::int64_t size) {
  Result<Pipeline> pipeline = TFRecordDataset({paths, true})
                                  .interleave({.cycle_length = 4, .block_length = 4})
                                  .repeat()
                                  .shuffle({.buffer_size = 500, .seed = 1})
                                  .batch({.size = size})
                                  .parse(full_schema())
                                  .open();
  EXPECT_TRUE(pipeline.ok());
  constexpr int kBatches = 200;
  for (int i = 0; i < kBatches; ++i) EXPECT_TRUE(pipeline->next().ok());
  const std::int64_t before = testing::allocation_count();
  for (int i = 0; i < kBatches; ++i) EXPECT_TRUE(pipeline->next().ok());
  return (testing::allocation_count() - before) / kBatches;
}

TEST(PipelineAllocations, AFewPerBatchNonePerRecord) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {3000, 3000, 3000, 3000});
  const std::int64_t of_small = allocations_per_batch(paths, 64);
  const std::int64_t of_large = allocations_per_batch(paths, 1024);
  EXPECT_LE(of_small, 200);
  // 960 rows more: a few more blocks and tasks, but far less than one allocation a row.
  EXPECT_LE(of_large, of_small + 100);
}

}  // namespace
}  // namespace headrace

// In steady state a running pipeline allocates per batch and per block, never per record.
#include <gtest/gtest.h>

#include "pipeline/pipeline_test_data.h"
#include "record/record_locator.h"
#include "support/allocation_count.h"

namespace headrace {
namespace {

// Heap allocations of all threads while `batches` batches of `size` rows go through.
std::int64_t allocations_per_batch(const std::vector<std::string>& paths, const Schema& schema, std::int64_t size) {
  Result<Pipeline> pipeline = TFRecordDataset({paths, true})
                                  .interleave({.cycle_length = 4, .block_length = 4})
                                  .repeat()
                                  .shuffle({.buffer_size = 500, .seed = 1})
                                  .batch({.size = size})
                                  .parse(schema)
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
  const std::int64_t of_small = allocations_per_batch(paths, full_schema(), 64);
  const std::int64_t of_large = allocations_per_batch(paths, full_schema(), 1024);
  EXPECT_LE(of_small, 200);
  // 960 rows more: a few more blocks and tasks, but far less than one allocation a row.
  EXPECT_LE(of_large, of_small + 100);
}

// Records that are read when they are parsed: their blocks hold fewer, the rows are the same.
TEST(PipelineAllocations, NonePerRecordThatIsReadLate) {
  constexpr std::int64_t kFloats = kLateBytes / sizeof(float);
  const std::vector<float> list(kFloats, 1.5F);
  const std::string record = ExampleBuilder().add_float("list", list).build();
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const char* name : {"a", "b", "c", "d"}) {
    paths.push_back(folder.file(name));
    write_records(paths.back(), std::vector<std::string>(300, record));
  }
  Schema schema;
  schema.features.emplace_back();
  schema.features.back().name = "list";
  schema.features.back().shape = {kFloats};
  const std::int64_t of_small = allocations_per_batch(paths, schema, 64);
  const std::int64_t of_large = allocations_per_batch(paths, schema, 512);
  EXPECT_LE(of_small, 200);
  EXPECT_LE(of_large, of_small + 100);
}

}  // namespace
}  // namespace headrace

// Whole pipelines over large records: what is read late is what is read early, and damage ends the stream at its row.
#include <gtest/gtest.h>

#include <fstream>

#include "pipeline/pipeline_test_data.h"
#include "record/record_locator.h"

namespace headrace {
namespace {

constexpr std::int64_t kRecords = 60;

// As example(), with a list of floats "list" that makes the record large.
std::string large_example(std::int64_t id) {
  const std::vector<float> list(kLateBytes / 4 + static_cast<std::size_t>(id), static_cast<float>(id));
  const std::string text(static_cast<std::size_t>(id) * 37, static_cast<char>('a' + id % 26));
  const std::string_view view = text;
  return ExampleBuilder().add_int64("id", {&id, 1}).add_float("list", list).add_bytes("s", {&view, 1}).build();
}

std::vector<std::string> write_large(const TemporaryFolder& folder, CompressionType compression) {
  std::vector<std::string> paths;
  for (int shard = 0; shard < 3; ++shard) {
    std::vector<std::string> records;
    for (std::int64_t i = shard; i < kRecords; i += 3) records.push_back(large_example(i));
    paths.push_back(folder.file((compression == CompressionType::kNone ? "plain-" : "gzip-") + std::to_string(shard)));
    write_records(paths.back(), records, compression);
  }
  return paths;
}

Dataset shuffled(const std::vector<std::string>& paths, const ReadOptions& options = {}) {
  return TFRecordDataset({paths, true}, options)
      .interleave({.cycle_length = 3, .block_length = 2})
      .repeat(2)
      .shuffle({.buffer_size = 20, .seed = 7})
      .batch({.size = 8});
}

Schema variable_schema() {
  Schema schema = id_schema();
  Feature list;
  list.name = "list";
  list.kind = FeatureKind::kVarLen;
  schema.features.push_back(list);
  Feature s;
  s.name = "s";
  s.dtype = DType::kBytes;
  schema.features.push_back(s);
  return schema;
}

// Every byte of every column.
std::string bytes_of(const Batch& batch) {
  std::string all;
  const auto add = [&all](const Tensor& tensor) {
    all.append(reinterpret_cast<const char*>(tensor.data), tensor.data == nullptr ? 0 : tensor.bytes());
  };
  for (const Slice& slice : batch.replicas) {
    for (const Column& column : slice.columns) {
      all += column.name + "|";
      for (const Tensor& splits : column.row_splits) add(splits);
      if (column.byte_offsets.data == nullptr) {
        add(column.values);
        continue;
      }
      add(column.byte_offsets);
      const auto* offsets = reinterpret_cast<const std::int64_t*>(column.byte_offsets.data);
      all.append(reinterpret_cast<const char*>(column.payload),
                 static_cast<std::size_t>(offsets[column.byte_offsets.elements() - 1]));
    }
  }
  return all;
}

std::vector<std::string> batches_of(const Dataset& dataset) {
  std::vector<std::string> all;
  Result<Pipeline> pipeline = dataset.open();
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  for (;;) {
    Result<std::optional<Batch>> batch = pipeline->next();
    EXPECT_TRUE(batch.ok()) << batch.status().to_string();
    if (!batch.ok() || !*batch) return all;
    all.push_back(bytes_of(**batch));
  }
}

TEST(LateReading, SameBatchesAsReadingBeforeTheShuffle) {
  const TemporaryFolder folder;
  const std::vector<std::string> plain = write_large(folder, CompressionType::kNone);
  const std::vector<std::string> gzip = write_large(folder, CompressionType::kGzip);
  for (const int threads : {1, 4}) {
    const ReadOptions options{.num_threads = threads};
    const Dataset late = shuffled(plain, options);
    const Dataset early = shuffled(gzip, options);
    const std::vector<std::string> dense = batches_of(late.parse(id_schema()));
    EXPECT_EQ(dense.size(), 15U);
    EXPECT_TRUE(dense == batches_of(early.parse(id_schema())));
    EXPECT_TRUE(batches_of(late.parse(variable_schema())) == batches_of(early.parse(variable_schema())));
    EXPECT_TRUE(batches_of(late) == batches_of(early)) << "the records themselves";
  }
}

TEST(LateReading, ResumesBehindEveryBatch) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_large(folder, CompressionType::kNone);
  const auto dataset = [&paths] { return shuffled(paths).parse(id_schema()); };  // its iterators start at epoch 0
  const Delivered whole = drain(dataset());
  ASSERT_TRUE(whole.end.ok()) << whole.end.to_string();
  Result<Pipeline> first = dataset().open();
  ASSERT_TRUE(first.ok());
  for (std::size_t taken = 1; taken <= whole.batches.size(); ++taken) {
    ASSERT_TRUE(first->next().ok());
    Result<Pipeline> resumed = dataset().open(*first->position());
    ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
    const std::vector<std::vector<std::int64_t>> rest(whole.batches.begin() + static_cast<std::ptrdiff_t>(taken),
                                                      whole.batches.end());
    EXPECT_EQ(drain(*resumed).batches, rest) << "behind batch " << taken;
  }
}

// Flips a bit of the last value of record `ordinal` of a shard whose ids are shard, shard + 3, …
std::int64_t damage_record(const std::string& path, int shard, std::int64_t ordinal) {
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < ordinal; ++i) {
    offset += static_cast<std::int64_t>(large_example(shard + 3 * i).size()) + 16;
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::int64_t at = offset + 12 + static_cast<std::int64_t>(kLateBytes);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 4));
  return offset;
}

TEST(LateReading, DamageEndsTheStreamAtItsRow) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_large(folder, CompressionType::kNone);
  const std::vector<std::int64_t> order = drain(shuffled(paths).parse(id_schema())).flat();
  const std::int64_t offset = damage_record(paths[1], 1, 5);  // id 16
  const auto place = std::find(order.begin(), order.end(), 16);
  for (const Schema& schema : {id_schema(), variable_schema()}) {
    const Delivered got = drain(shuffled(paths).parse(schema));
    EXPECT_EQ(got.flat(), std::vector<std::int64_t>(order.begin(), place));
    EXPECT_EQ(got.end.code(), StatusCode::kDataLoss);
    EXPECT_EQ(got.end.where().path, paths[1]);
    EXPECT_EQ(got.end.where().record, 5);
    EXPECT_EQ(got.end.where().offset, offset);
    EXPECT_EQ(got.end.message(),
              "corrupted record at " + std::to_string(offset) + ": the checksum of its data does not match");
  }
  Result<Pipeline> raw = shuffled(paths).open();
  ASSERT_TRUE(raw.ok());
  Status end;
  std::int64_t rows = 0;
  while (end.ok()) {
    const Result<std::optional<Batch>> batch = raw->next();
    end = batch.status();
    if (batch.ok()) rows += (*batch)->global_rows;
  }
  EXPECT_EQ(rows, place - order.begin());
  EXPECT_EQ(end.where().record, 5);
}

TEST(LateReading, SkippedDamageIsFoundBeforeTheShuffle) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_large(folder, CompressionType::kNone);
  damage_record(paths[1], 1, 5);
  const Delivered got = drain(shuffled(paths, {.on_corrupt = OnCorrupt::kSkip}).parse(id_schema()));
  EXPECT_TRUE(got.end.ok()) << got.end.to_string();
  std::vector<std::int64_t> seen = got.flat();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(2 * (kRecords - 1)));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 16), 0);
}

TEST(LateReading, AFileThatShrinksIsADataLoss) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_large(folder, CompressionType::kNone);
  Result<Pipeline> pipeline = TFRecordDataset({paths, true})
                                  .repeat()
                                  .shuffle({.buffer_size = 20, .seed = 7})
                                  .batch({.size = 1})
                                  .parse(id_schema())
                                  .open();
  ASSERT_TRUE(pipeline.ok());
  ASSERT_TRUE(pipeline->next().ok());
  for (const std::string& path : paths) std::filesystem::resize_file(path, 100);
  const Delivered got = drain(*pipeline, 1000);
  EXPECT_EQ(got.end.code(), StatusCode::kDataLoss) << got.end.to_string();
  EXPECT_FALSE(got.end.where().path.empty());
}

}  // namespace
}  // namespace headrace

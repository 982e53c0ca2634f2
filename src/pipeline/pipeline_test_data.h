// Shards and schemas for the tests of whole pipelines.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/example.h"
#include "headrace/pipeline.h"
#include "headrace/records.h"
#include "support/temporary_folder.h"

namespace headrace {

/// One Example: int64 "id", float "x" = id / 2, bytes "s" = id as text.
inline std::string example(std::int64_t id) {
  const float x = static_cast<float>(id) / 2;
  const std::string text = std::to_string(id);
  const std::string_view view = text;
  return ExampleBuilder().add_int64("id", {&id, 1}).add_float("x", {&x, 1}).add_bytes("s", {&view, 1}).build();
}

inline void write_records(const std::string& path, const std::vector<std::string>& records,
                          CompressionType compression = CompressionType::kNone) {
  Result<RecordWriter> writer = RecordWriter::open(path, {.compression = compression});
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  for (const std::string& record : records) ASSERT_TRUE(writer->write(record).ok());
  ASSERT_TRUE(writer->close().ok());
}

/// Shards "shard-0", …; ids count on from shard to shard.
inline std::vector<std::string> write_shards(const TemporaryFolder& folder, const std::vector<int>& sizes,
                                             CompressionType compression = CompressionType::kNone) {
  std::vector<std::string> paths;
  std::int64_t id = 0;
  for (std::size_t shard = 0; shard < sizes.size(); ++shard) {
    std::vector<std::string> records;
    for (int i = 0; i < sizes[shard]; ++i) records.push_back(example(id++));
    paths.push_back(folder.file("shard-" + std::to_string(shard)));
    write_records(paths.back(), records, compression);
  }
  return paths;
}

inline Schema id_schema() {
  Schema schema;
  Feature id;
  id.name = "id";
  id.dtype = DType::kInt64;
  schema.features.push_back(id);
  return schema;
}

/// Adds the column "x" (float) and "s" (bytes).
inline Schema full_schema() {
  Schema schema = id_schema();
  Feature x;
  x.name = "x";
  schema.features.push_back(x);
  Feature s;
  s.name = "s";
  s.dtype = DType::kBytes;
  schema.features.push_back(s);
  return schema;
}

/// The ids of a batch, replica after replica.
inline std::vector<std::int64_t> ids(const Batch& batch) {
  std::vector<std::int64_t> all;
  for (const Slice& slice : batch.replicas) {
    const Column* column = slice.find("id");
    const auto* values = reinterpret_cast<const std::int64_t*>(column->values.data);
    all.insert(all.end(), values, values + slice.rows);
  }
  return all;
}

/// What a pipeline delivers: the ids of each batch, and how it ended.
struct Delivered {
  std::vector<std::vector<std::int64_t>> batches;
  Status end;

  std::vector<std::int64_t> flat() const {
    std::vector<std::int64_t> all;
    for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
};

inline Delivered drain(Pipeline& pipeline, std::size_t most = 1'000'000) {
  Delivered delivered;
  while (delivered.batches.size() < most) {
    Result<std::optional<Batch>> batch = pipeline.next();
    if (!batch.ok()) {
      delivered.end = batch.status();
      break;
    }
    if (!*batch) break;
    delivered.batches.push_back(ids(**batch));
  }
  return delivered;
}

inline Delivered drain(const Dataset& dataset, std::size_t most = 1'000'000) {
  Result<Pipeline> pipeline = dataset.open();
  if (!pipeline.ok()) return {{}, pipeline.status()};
  return drain(*pipeline, most);
}

inline std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = begin; i < end; ++i) values.push_back(i);
  return values;
}

}  // namespace headrace

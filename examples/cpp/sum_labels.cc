// Writes four small shards, then reads one shuffled epoch of them as batches split over two host devices.
//
// Usage: sum_labels FOLDER. Prints the rows and the sum of the labels; exits with 1 on the first failure.
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/headrace.h"

namespace {

constexpr int kShards = 4;
constexpr int kRecordsPerShard = 250;

headrace::Status write_shard(const std::string& path, int first) {
  HEADRACE_ASSIGN_OR_RETURN(auto writer, headrace::RecordWriter::open(path));
  for (int i = 0; i < kRecordsPerShard; ++i) {
    const std::vector<std::int64_t> label = {first + i};
    const std::vector<float> values = {static_cast<float>(i), 0.5f};
    headrace::ExampleBuilder example;
    example.add_int64("label", label).add_float("values", values);
    HEADRACE_RETURN_IF_ERROR(writer.write(example.build()));
  }
  return writer.close();
}

headrace::Status run(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (int shard = 0; shard < kShards; ++shard) {
    const std::string path = folder + "/train-" + std::to_string(shard) + ".tfrecord";
    HEADRACE_RETURN_IF_ERROR(write_shard(path, shard * kRecordsPerShard));
  }

  headrace::Schema schema;
  schema.features = {
      {.name = "label", .dtype = headrace::DType::kInt64},
      {.name = "values", .dtype = headrace::DType::kFloat32, .shape = {2}},
  };
  HEADRACE_ASSIGN_OR_RETURN(auto pipeline, headrace::TFRecordDataset({.items = {folder + "/train-*.tfrecord"}})
                                               .interleave({.cycle_length = kShards})
                                               .shuffle({.buffer_size = 200, .seed = 42})
                                               .batch({.size = 128})
                                               .parse(schema)
                                               .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}})
                                               .open());

  std::int64_t rows = 0;
  std::int64_t sum = 0;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(auto maybe_batch, pipeline.next());
    if (!maybe_batch) break;
    for (const headrace::Slice& slice : maybe_batch->replicas) {
      const auto* labels = reinterpret_cast<const std::int64_t*>(slice.find("label")->values.data);
      for (std::int64_t row = 0; row < slice.rows; ++row) sum += labels[row];
      rows += slice.rows;
    }
  }
  std::cout << rows << " rows, labels add up to " << sum << "\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sum_labels FOLDER\n";
    return 2;
  }
  const headrace::Status status = run(argv[1]);
  if (!status.ok()) {
    std::cerr << status.to_string() << "\n";
    return 1;
  }
  return 0;
}

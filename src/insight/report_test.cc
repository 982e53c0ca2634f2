#include "headrace/report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "headrace/trace.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

const StageReport& stage(const Report& report, const std::string& name) {
  for (const StageReport& s : report.stages) {
    if (s.name == name) return s;
  }
  throw std::out_of_range(name);
}

TEST(Report, CountsWhatWentThrough) {
  const TemporaryFolder folder;
  const Dataset dataset = TFRecordDataset({write_shards(folder, {100, 100}), true})
                              .shuffle({.buffer_size = 10, .seed = 77})
                              .batch({.size = 50})
                              .parse(full_schema());
  Result<Pipeline> pipeline = dataset.open();
  ASSERT_TRUE(pipeline.ok());
  drain(*pipeline);
  const Report r = *report(*pipeline);
  ASSERT_EQ(r.stages.size(), 4U);
  for (const char* name : {"read", "order", "parse", "deliver"}) EXPECT_EQ(stage(r, name).records, 200) << name;
  EXPECT_GT(stage(r, "read").busy_seconds, 0);
  EXPECT_GT(stage(r, "parse").busy_seconds, 0);
  EXPECT_EQ(r.batches, 4);
  EXPECT_EQ(r.seeds, (std::vector<std::int64_t>{77}));
  EXPECT_GE(r.threads, 1);
  EXPECT_TRUE(r.warnings.empty());
  EXPECT_EQ(r.skipped, 0);
}

TEST(Report, AShuffleOfLargeRecordsHoldsNoMemory) {
  const TemporaryFolder folder;
  const std::string payload(10'000, 'x');
  const std::string_view view = payload;
  const std::string record = ExampleBuilder().add_bytes("s", {&view, 1}).build();
  const auto record_bytes = [&](CompressionType compression) {
    const std::string path = folder.file(compression == CompressionType::kNone ? "plain" : "gzip");
    write_records(path, std::vector<std::string>(100, record), compression);
    // The raw records: nothing of them is kept between two phases of a parse.
    Result<Pipeline> pipeline =
        TFRecordDataset({{path}, true}).repeat().shuffle({.buffer_size = 80}).batch({.size = 10}).open();
    EXPECT_TRUE(pipeline.ok());
    EXPECT_TRUE(pipeline->next().ok());
    return report(*pipeline)->record_bytes;
  };
  EXPECT_GE(record_bytes(CompressionType::kGzip), 80 * 10'000);
  EXPECT_EQ(record_bytes(CompressionType::kNone), 0) << "records are located, and read when they are parsed";
}

TEST(Report, NamesEmptyShardsAndFilesReadTwice) {
  const TemporaryFolder folder;
  std::vector<std::string> paths = write_shards(folder, {3, 0});
  paths.push_back(paths[0]);
  Result<Pipeline> pipeline = TFRecordDataset({paths, true}).batch({.size = 10}).open();
  ASSERT_TRUE(pipeline.ok());
  drain(*pipeline, 0);
  const Report r = *report(*pipeline);
  EXPECT_EQ(r.warnings.size(), 2U);
}

TEST(Report, JsonHasEveryField) {
  Report r;
  r.stages.push_back({"read", 1.5, 0, 0, 10, 20});
  r.warnings = {"a \"quoted\" warning"};
  r.seeds = {7};
  r.skipped_regions.push_back({data_loss("torn", {.path = "a\xFF", .record = 3, .offset = 40}), 60, 1});
  const auto json = nlohmann::json::parse(to_json(r));
  EXPECT_EQ(json["stages"][0]["name"], "read");
  EXPECT_EQ(json["stages"][0]["busy_seconds"], 1.5);
  EXPECT_EQ(json["warnings"][0], "a \"quoted\" warning");
  EXPECT_EQ(json["seeds"][0], 7);
  EXPECT_EQ(json["skipped_regions"][0], nlohmann::json::parse(to_json(r.skipped_regions[0])));
  for (const char* key : {"epoch", "batches", "skipped", "skipped_misfits", "skipped_regions", "consumer_wait_seconds",
                          "threads", "io", "route", "record_bytes", "batch_bytes", "held_by_consumer_bytes"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(Report, ARegionIsOneLineOfJson) {
  const Status reason = schema_mismatch("no such key", {.path = "a\xFF", .record = 3, .offset = 40, .key = "k\n"});
  EXPECT_EQ(to_json(SkippedRegion{reason, 60, 1}),
            R"({"path":"a\\xff","record":3,"from":40,"to":60,"records":1,"cause":"schema_mismatch",)"
            R"("reason":"no such key","key":"k\n"})");
  EXPECT_EQ(to_json(SkippedRegion{data_loss("not a gzip file", {.path = "b"})}),
            R"({"path":"b","record":null,"from":null,"to":null,"records":null,"cause":"data_loss",)"
            R"("reason":"not a gzip file","key":null})");
}

TEST(Trace, HasCutParseAndDeliverOfEveryBatch) {
  const TemporaryFolder folder;
  Result<Pipeline> pipeline =
      TFRecordDataset({write_shards(folder, {30}), true}).batch({.size = 10}).parse(id_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  drain(*pipeline);
  const std::string path = folder.file("trace.json");
  ASSERT_TRUE(write_trace(*pipeline, path).ok());
  const auto json = nlohmann::json::parse(std::ifstream(path));
  std::map<std::string, int> spans;
  for (const auto& event : json["traceEvents"]) {
    ++spans[event["name"].get<std::string>() + " " + event["args"]["batch"].dump()];
    EXPECT_GE(event["dur"].get<double>(), 0);
  }
  for (const char* name : {"cut", "parse", "deliver"}) {
    for (int batch = 0; batch < 3; ++batch) EXPECT_GE(spans[name + (" " + std::to_string(batch))], 1);
  }
  EXPECT_EQ(write_trace(*pipeline, folder.file("no/such/folder")).code(), StatusCode::kIo);
}

}  // namespace
}  // namespace headrace

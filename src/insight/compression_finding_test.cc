#include "insight/compression_finding.h"

#include <gtest/gtest.h>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

Report report_of(const std::string& compression, double inflate_seconds, double other_seconds) {
  Report report;
  report.stages.push_back({.name = "read", .busy_seconds = inflate_seconds + other_seconds / 2});
  report.stages.push_back({.name = "parse", .busy_seconds = other_seconds / 2});
  report.inflate.push_back({.compression = compression,
                            .busy_seconds = inflate_seconds,
                            .file_bytes = 1'000'000'000,
                            .bytes = 3'000'000'000});
  find_compression(&report);
  return report;
}

TEST(CompressionFinding, NamesTheShareAndWhatOtherFormsWouldGain) {
  const Report report = report_of("gzip", 6, 4);
  const InflateReport& inflate = report.inflate[0];
  EXPECT_DOUBLE_EQ(inflate.share, 0.6);
  EXPECT_GT(inflate.gain_zstd, 0.1);
  EXPECT_LT(inflate.gain_zstd, inflate.share);
  EXPECT_DOUBLE_EQ(inflate.gain_none, 0.6 - 0.06);  // 2 GB more to read
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("inflating gzip takes 60 % of the busy time"), std::string::npos);
  EXPECT_NE(report.warnings[0].find("zstd"), std::string::npos);
  EXPECT_NE(report.warnings[0].find("3.0 times as large"), std::string::npos);
}

TEST(CompressionFinding, IsSilentWhereItIsNotWorthIt) {
  EXPECT_TRUE(report_of("gzip", 1, 9).warnings.empty());
  EXPECT_TRUE(report_of("gzip", 0.06, 0.04).warnings.empty());
  EXPECT_EQ(report_of("zstd", 6, 4).warnings[0].find("as zstd"), std::string::npos);
}

TEST(CompressionFinding, IsMeasured) {
  const TemporaryFolder folder;
  for (const CompressionType format : {CompressionType::kNone, CompressionType::kGzip}) {
    const std::vector<std::string> paths = write_shards(folder, {2'000, 3'000}, format);
    Result<Pipeline> pipeline = TFRecordDataset({paths, true}).batch({.size = 100}).parse(full_schema()).open();
    ASSERT_TRUE(pipeline.ok());
    EXPECT_EQ(drain(*pipeline).flat(), range(0, 5'000));
    const Report r = *report(*pipeline);
    if (format == CompressionType::kNone) {
      EXPECT_TRUE(r.inflate.empty());
      continue;
    }
    ASSERT_EQ(r.inflate.size(), 1U);
    EXPECT_EQ(r.inflate[0].compression, "gzip");
    std::int64_t file_bytes = 0;
    std::int64_t bytes = 0;
    for (const std::string& path : paths) file_bytes += static_cast<std::int64_t>(std::filesystem::file_size(path));
    for (std::int64_t id = 0; id < 5'000; ++id) bytes += std::ssize(example(id)) + 16;
    EXPECT_EQ(r.inflate[0].file_bytes, file_bytes);
    EXPECT_EQ(r.inflate[0].bytes, bytes);
    EXPECT_GT(r.inflate[0].busy_seconds, 0);
    EXPECT_GT(r.inflate[0].share, 0);
    EXPECT_LE(r.inflate[0].share, 1);
    EXPECT_NE(to_json(r).find("\"inflate\":[{\"compression\":\"gzip\""), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace

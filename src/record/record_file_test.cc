// RecordWriter and RecordReader on one file, and the fetcher on several.
#include "headrace/records.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::payload_of;
using testing::pull_all;
using testing::ScratchFolder;
using testing::shard_bytes;
using testing::SourceWorld;

constexpr CompressionType kCompressions[] = {CompressionType::kNone, CompressionType::kGzip, CompressionType::kZlib,
                                             CompressionType::kZstd, CompressionType::kSnappy};

void write_file(const std::string& path, CompressionType compression, std::size_t shard, std::size_t records,
                std::size_t bytes) {
  auto writer = RecordWriter::open(path, {.compression = compression, .level = 1});
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  for (std::size_t i = 0; i < records; ++i) ASSERT_TRUE(writer->write(payload_of(shard, i, bytes)).ok());
  ASSERT_TRUE(writer->close().ok());
}

std::size_t files_in(const ScratchFolder& folder) {
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path(""))) ++files;
  return files;
}

TEST(RecordFile, WhatIsWrittenIsRead) {
  const ScratchFolder folder;
  const std::string path = folder.path("records");
  for (const CompressionType compression : kCompressions) {
    for (const std::size_t bytes : {0U, 700U, 100'000U, 400'000U}) {
      write_file(path, compression, 7, 9, bytes);
      auto reader = RecordReader::open(path);
      ASSERT_TRUE(reader.ok()) << reader.status().to_string();
      for (std::size_t i = 0; i < 9; ++i) {
        const auto record = reader->next();
        ASSERT_TRUE(record.ok() && record->has_value());
        EXPECT_TRUE(**record == payload_of(7, i, bytes));
      }
      for (int again = 0; again < 2; ++again) {
        const auto end = reader->next();
        ASSERT_TRUE(end.ok());
        EXPECT_FALSE(end->has_value());
      }
    }
  }
}

TEST(RecordFile, APlainFileHasTheBytesOfTheFormat) {
  const ScratchFolder folder;
  write_file(folder.path("records"), CompressionType::kNone, 0, 3, 10);
  std::ifstream file(folder.path("records"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(bytes, shard_bytes(0, 3, 10));
}

TEST(RecordFile, TheNameAppearsWithCloseAndOtherwiseNothingStays) {
  const ScratchFolder folder;
  {
    auto writer = RecordWriter::open(folder.path("records"));
    ASSERT_TRUE(writer.ok() && writer->write("a").ok());
    EXPECT_FALSE(std::filesystem::exists(folder.path("records")));
  }
  EXPECT_EQ(files_in(folder), 0U);
  auto writer = RecordWriter::open(folder.path("records"));
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->close().ok());
  EXPECT_TRUE(writer->close().ok());
  EXPECT_EQ(writer->write("late").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(std::filesystem::file_size(folder.path("records")), 0U);
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(RecordFile, OpenFailuresNameThePath) {
  const ScratchFolder folder;
  for (const std::string& path : {folder.path("no/such/folder"), folder.path("")}) {
    const auto writer = RecordWriter::open(path);
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.status().where().path, path);
  }
  EXPECT_EQ(RecordWriter::open(folder.path("x"), {.level = 10}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RecordReader::open(folder.path("none")).status().code(), StatusCode::kNotFound);
}

TEST(RecordFile, DamagedAndWronglyNamedCompression) {
  const ScratchFolder folder;
  const std::string gzip = folder.path("gzip");
  write_file(gzip, CompressionType::kGzip, 0, 50, 900);
  const std::string plain = folder.write("plain", shard_bytes(0, 3));
  const std::tuple<std::string, CompressionType, const char*> cases[] = {
      {gzip, CompressionType::kNone, "gzip"},
      {gzip, CompressionType::kZlib, "gzip"},
      {plain, CompressionType::kGzip, "uncompressed TFRecords"},
  };
  for (const auto& [path, compression, word] : cases) {
    auto reader = RecordReader::open(path, {.compression = compression});
    ASSERT_TRUE(reader.ok());
    const Status failure = reader->next().status();
    EXPECT_EQ(failure.code(), StatusCode::kDataLoss);
    EXPECT_NE(failure.message().find(word), std::string::npos) << failure.to_string();
    EXPECT_EQ(failure.where().path, path);
    EXPECT_EQ(failure.where().record, 0);
    EXPECT_EQ(failure.where().offset, 0);
  }
}

TEST(RecordFile, ACutCompressedFileGivesACorrectPrefixAndThenALoss) {
  const ScratchFolder folder;
  for (const CompressionType compression : {CompressionType::kGzip, CompressionType::kZlib}) {
    const std::string path = folder.path("compressed");
    write_file(path, compression, 0, 300, 900);
    const auto size = std::filesystem::file_size(path);
    for (const std::uintmax_t kept : {size - 1, size - 5, size / 2, std::uintmax_t{5}}) {
      std::filesystem::resize_file(path, kept);
      auto reader = RecordReader::open(path);
      ASSERT_TRUE(reader.ok());
      std::size_t records = 0;
      for (;; ++records) {
        const auto record = reader->next();
        if (!record.ok()) {
          EXPECT_EQ(record.status().code(), StatusCode::kDataLoss);
          EXPECT_EQ(record.status().where().record, static_cast<std::int64_t>(records));
          break;
        }
        ASSERT_TRUE(record->has_value()) << "a cut is never a silent end";
        ASSERT_TRUE(**record == payload_of(0, records, 900));
      }
      write_file(path, compression, 0, 300, 900);
    }
  }
}

TEST(RecordFile, LargeRecordsGrowInACompressedStreamAndALieAboutTheLengthIsALoss) {
  const ScratchFolder folder;
  const std::string path = folder.path("large");
  write_file(path, CompressionType::kGzip, 0, 2, 20'000'000);
  auto reader = RecordReader::open(path);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(**reader->next() == payload_of(0, i, 20'000'000));
  EXPECT_FALSE(reader->next()->has_value());
}

TEST(RecordFetcher, GivesRecordsInTheOrderOfTheIds) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    paths.push_back(folder.path("shard" + std::to_string(shard)));
    write_file(paths.back(), kCompressions[shard], shard, 60, 1000 * (shard + 1));
  }
  SourceWorld world(paths);
  const auto source = make_source(world.context(), {.cycle_length = 2});
  source->begin_epoch(0);
  const auto all = pull_all(source.get(), &world.blocks);
  ASSERT_EQ(all.ids.size(), 180U);
  std::vector<RecordId> ids;
  for (std::size_t i = 0; i < 180; ++i) ids.push_back(all.ids[(i * 77) % 180]);
  const auto fetcher = make_fetcher(world.context(), {});
  std::vector<RecordRun> runs;
  ASSERT_TRUE(fetcher->fetch(ids, &runs).ok());
  ASSERT_EQ(runs.size(), 180U);
  for (std::size_t i = 0; i < 180; ++i) {
    const auto payload = runs[i].block->payload(runs[i].first);
    EXPECT_TRUE(std::string(payload.begin(), payload.end()) == all.payloads[(i * 77) % 180]);
    EXPECT_EQ(record_id(runs[i]).offset, ids[i].offset);
    EXPECT_EQ(record_id(runs[i]).ordinal, ids[i].ordinal);
  }
  world.blocks.release(runs);
}

TEST(RecordFetcher, APlaceThatHoldsNoRecordIsALoss) {
  const ScratchFolder folder;
  SourceWorld world({folder.write("shard", shard_bytes(0, 4))});
  const auto fetcher = make_fetcher(world.context(), {});
  for (const RecordId& id : {RecordId{0, 1, 5}, RecordId{0, 9, 1'000'000}, RecordId{0, 0, 70}}) {
    std::vector<RecordRun> runs;
    const std::vector<RecordId> ids = {RecordId{0, 0, 0}, id};
    const Status status = fetcher->fetch(ids, &runs);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_TRUE(runs.empty());
  }
  std::vector<RecordRun> runs;
  EXPECT_EQ(fetcher->fetch(std::vector<RecordId>{{3, 0, 0}}, &runs).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(world.blocks.bytes_in_use(), 0);
}

}  // namespace
}  // namespace headrace

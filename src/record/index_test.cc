// Indexes: the bytes of the format, DALI's text, places, and files that are no longer what was indexed.
#include "headrace/index.h"

#include <cstdlib>

#include "base/random.h"
#include "headrace/records.h"
#include "record/index_codec.h"
#include "record/record_testing.h"
#include "record/shard_reader.h"

namespace headrace {
namespace {

using testing::framed;
using testing::ScratchFolder;
using testing::shard_bytes;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class Index : public ::testing::Test {
 protected:
  Index() { setenv("HEADRACE_CACHE_DIR", folder_.path("cache").c_str(), 1); }
  ~Index() override { unsetenv("HEADRACE_CACHE_DIR"); }

  const ScratchFolder folder_;
};

TEST(IndexCodec, ThisIsFormatV1) {
  const RecordIndex index{FileIdentity{300, 0x01020304, 0xA0B0C0D0}, {5, 5, 0, 200}};
  const std::vector<std::uint8_t> bytes = encode_index(index);
  // 300, the two words, 4 records: +5, +0, -5, +200, the checksum.
  const std::vector<std::uint8_t> expected = {'H',  'R',  'I',  'N',  'D',  'E',  'X',  '1',  0xAC, 0x02, 0x04, 0x03,
                                              0x02, 0x01, 0xD0, 0xC0, 0xB0, 0xA0, 0x04, 0x0A, 0,    0x09, 0x90, 0x03};
  ASSERT_EQ(bytes.size(), expected.size() + 4);
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.end() - 4), expected);
  const Result<RecordIndex> read = decode_index(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->identity, index.identity);
  EXPECT_EQ(read->lengths, index.lengths);
  EXPECT_EQ(read->payload_bytes(), 210U);
  EXPECT_EQ(read->stream_bytes(), 274U);
}

TEST(IndexCodec, EveryCutAndFlipIsADamage) {
  const RecordIndex index{FileIdentity{300, 1, 2}, {5, 500, 70'000, UINT32_MAX, 0}};
  const std::vector<std::uint8_t> whole = encode_index(index);
  EXPECT_EQ(decode_index(whole)->lengths, index.lengths);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    if (i > 0) {
      EXPECT_EQ(decode_index(cut).status().code(), StatusCode::kDataLoss) << i;
    }
    std::vector<std::uint8_t> flipped = whole;
    flipped[i] ^= 0x11;
    EXPECT_EQ(decode_index(flipped).status().code(), StatusCode::kDataLoss) << i;
  }
}

TEST(IndexCodec, SeekPointsMakeFormatV2) {
  RecordIndex index{FileIdentity{300, 1, 2}, {5, 500}};
  index.points = {{.stream_offset = 70, .file_offset = 20, .bits = 3, .window = {1, 2, 3}},
                  {.stream_offset = 400, .file_offset = 250, .bits = 0, .window = {}}};
  const std::vector<std::uint8_t> whole = encode_index(index);
  EXPECT_EQ(whole[7], '2');
  const Result<RecordIndex> read = decode_index(whole);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->lengths, index.lengths);
  EXPECT_EQ(read->points, index.points);
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(decode_index(cut).status().code(), StatusCode::kDataLoss) << i;
  }
  for (const SeekPoint& wrong :
       {SeekPoint{.stream_offset = 401, .file_offset = 301},
        SeekPoint{.stream_offset = 401, .file_offset = 260, .bits = 8},
        SeekPoint{.stream_offset = 401, .file_offset = 260, .window = std::vector<std::uint8_t>(32'769)}}) {
    index.points.back() = wrong;
    EXPECT_EQ(decode_index(encode_index(index)).status().code(), StatusCode::kDataLoss);
  }
}

TEST(IndexCodec, TheTextOfDalisTfrecord2idx) {
  const Result<RecordIndex> index = decode_index(bytes_of("0 21\n21 16\n37 1016\n"));
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(index->lengths, (std::vector<std::uint32_t>{5, 0, 1000}));
  EXPECT_FALSE(index->identity.has_value());
  EXPECT_TRUE(decode_index(bytes_of(""))->lengths.empty());
  for (const char* bad : {"0 21\n22 16\n", "0 15\n", "1 21\n", "0 21", "0 21\n21\n", "0  21\n", "text\n", "-1 21\n",
                          "0 99999999999\n", "0 99999999999999999999999\n"}) {
    EXPECT_EQ(decode_index(bytes_of(bad)).status().code(), StatusCode::kDataLoss) << bad;
  }
}

TEST_F(Index, IsFoundWhereItWasWritten) {
  for (const CompressionType compression : {CompressionType::kNone, CompressionType::kGzip}) {
    for (const IndexPlace place : {IndexPlace::kCache, IndexPlace::kBeside}) {
      const std::string path = folder_.path("train-0");
      auto writer = RecordWriter::open(path, {.compression = compression});
      ASSERT_TRUE(writer.ok());
      for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(writer->write(std::string(i * 7, 'x')).ok());
      ASSERT_TRUE(writer->close().ok());
      const Result<std::string> written = write_index(path, place);
      ASSERT_TRUE(written.ok()) << written.status().to_string();
      EXPECT_EQ(*written, *index_path(path, place));
      const auto found = find_index(path);
      ASSERT_TRUE(found.ok() && found->has_value());
      ASSERT_EQ((*found)->lengths.size(), 50U);
      for (std::uint32_t i = 0; i < 50; ++i) EXPECT_EQ((*found)->lengths[i], 7 * i);
      std::filesystem::remove(*written);
      EXPECT_FALSE(find_index(path)->has_value());
    }
  }
  EXPECT_EQ(*index_path(folder_.path("train-0"), IndexPlace::kBeside), folder_.path(".train-0.hrindex"));
}

TEST_F(Index, TheWriterMakesOneThatReadingWouldMake) {
  for (const CompressionType compression : {CompressionType::kNone, CompressionType::kZlib}) {
    const std::string name = std::to_string(static_cast<int>(compression));
    const std::string path = folder_.path(name);
    auto writer = RecordWriter::open(path, {.compression = compression, .index = true});
    ASSERT_TRUE(writer.ok());
    for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(writer->write(std::string(i * 70'001 % 300'000, 'x')).ok());
    EXPECT_FALSE(find_index(path)->has_value());
    for (int again = 0; again < 2; ++again) ASSERT_TRUE(writer->close().ok());
    const auto found = find_index(path);
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->lengths, build_index(path)->lengths);
    EXPECT_EQ((*found)->path, folder_.path("." + name + ".hrindex"));
  }
}

TEST_F(Index, OneOfAnotherStateOfTheFileIsNotFound) {
  const std::string path = folder_.write("a", shard_bytes(0, 9));
  ASSERT_TRUE(write_index(path, IndexPlace::kBeside).ok());
  ASSERT_TRUE(find_index(path)->has_value());
  for (const std::string& changed : {shard_bytes(0, 8), shard_bytes(0, 10), shard_bytes(1, 9), std::string()}) {
    folder_.write("a", changed);
    EXPECT_FALSE(find_index(path)->has_value());
  }
  folder_.write("a", shard_bytes(0, 9));
  EXPECT_TRUE(find_index(path)->has_value());
  folder_.write(".a.hrindex", "HRINDEX1 of no use");
  EXPECT_FALSE(find_index(path)->has_value());
  EXPECT_EQ(read_index(folder_.path(".a.hrindex")).status().where().path, folder_.path(".a.hrindex"));
}

TEST_F(Index, DalisIsUsedWhenItFits) {
  const std::string path = folder_.write("a", framed("12345") + framed("") + framed("123"));
  folder_.write("a.idx", "0 21\n21 16\n37 19\n");
  EXPECT_EQ((*find_index(path))->lengths, (std::vector<std::uint32_t>{5, 0, 3}));
  for (const char* other : {"0 21\n21 16\n", "0 20\n20 17\n37 19\n", "0 21\n21 16\n37 19\n56 16\n"}) {
    folder_.write("a.idx", other);
    EXPECT_FALSE(find_index(path)->has_value()) << other;
  }
}

TEST_F(Index, AGzipShardIsReadFromTheMiddleWithoutWhatStandsBefore) {
  const std::string path = folder_.path("a");
  auto writer = RecordWriter::open(path, {.compression = CompressionType::kGzip});
  ASSERT_TRUE(writer.ok());
  for (std::size_t i = 0; i < 4000; ++i) {
    std::string record;
    while (record.size() < 1000) record += std::to_string(random_u64(i, record.size()));
    ASSERT_TRUE(writer->write(record).ok());
  }
  ASSERT_TRUE(writer->close().ok());
  ASSERT_TRUE(write_index(path, IndexPlace::kCache).ok());
  const RecordIndex index = **find_index(path);
  EXPECT_GE(index.points.size(), 3U);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(1000);
  file << std::string(1000, 'x');
  file.close();
  ShardPlace place{.ordinal = 3000};
  for (std::size_t i = 0; i < place.ordinal; ++i) place.offset += kFrameBytes + index.lengths[i];
  BlockPool blocks;
  ShardReader reader(&blocks, {.path = path}, 0, {}, place);
  std::size_t records = 0;
  ReadStep step = ReadStep::kBlock;
  while (step == ReadStep::kBlock) {
    ShardPiece piece;
    step = reader.step(true, &piece);
    EXPECT_NE(step, ReadStep::kFailed) << piece.failure.to_string();
    if (step != ReadStep::kBlock) break;
    records += piece.block->records.size();
    const RecordRun whole{piece.block, 0, static_cast<std::uint32_t>(piece.block->records.size())};
    blocks.release({&whole, 1});
  }
  EXPECT_EQ(records, 1000U);
}

TEST_F(Index, ADamagedFileHasNone) {
  std::string bytes = shard_bytes(0, 9);
  bytes[40] ^= 1;
  const std::string path = folder_.write("a", bytes);
  EXPECT_EQ(write_index(path, IndexPlace::kBeside).status().code(), StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(folder_.path(".a.hrindex")));
  EXPECT_EQ(write_index(folder_.path("none"), IndexPlace::kCache).status().code(), StatusCode::kNotFound);
}

TEST_F(Index, WithoutACacheFolderThereIsOnlyBeside) {
  const std::string path = folder_.write("a", shard_bytes(0, 2));
  unsetenv("HEADRACE_CACHE_DIR");
  const char* home = std::getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(write_index(path, IndexPlace::kCache).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(find_index(path)->has_value());
  EXPECT_TRUE(write_index(path, IndexPlace::kBeside).ok());
  EXPECT_TRUE(find_index(path)->has_value());
  if (home != nullptr) setenv("HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace headrace

// Damage, cuts and odd shapes of one uncompressed shard: what comes before, what the failure says, what is skipped.
#include "record/shard_reader.h"

#include "base/wire.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::framed;
using testing::payload_of;
using testing::ScratchFolder;
using testing::shard_bytes;

struct Reading {
  std::vector<std::string> payloads;
  std::vector<std::uint64_t> ordinals;
  std::vector<SkippedRegion> damage;
  Status failure;
};

Reading read_file(const std::string& path, const ReadOptions& options = {}, ShardPlace start = {}) {
  BlockPool blocks;
  Reading reading;
  ShardReader reader(&blocks, {.path = path}, 0, options, start);
  for (;;) {
    ShardPiece piece;
    const ReadStep step = reader.step(true, &piece);
    reading.damage.insert(reading.damage.end(), piece.damage.begin(), piece.damage.end());
    reading.failure = piece.failure;
    if (step != ReadStep::kBlock) {
      ShardPiece again;
      EXPECT_EQ(reader.step(true, &again), step);
      EXPECT_EQ(again.failure.to_string(), reading.failure.to_string());
      break;
    }
    for (std::uint32_t i = 0; i < piece.block->records.size(); ++i) {
      const auto payload = piece.block->payload(i);
      reading.payloads.emplace_back(payload.begin(), payload.end());
      reading.ordinals.push_back(piece.block->first_ordinal + i);
    }
    const RecordRun whole{piece.block, 0, static_cast<std::uint32_t>(piece.block->records.size())};
    blocks.release({&whole, 1});
  }
  return reading;
}

Reading read_bytes(std::string_view bytes, const ReadOptions& options = {}) {
  const ScratchFolder folder;
  return read_file(folder.write("shard", bytes), options);
}

const ReadOptions kSkip{.on_corrupt = OnCorrupt::kSkip};
const std::size_t kRecord = framed("0.0").size();

void expect_loss(const Reading& reading, std::size_t records, std::int64_t offset, const std::string& words) {
  EXPECT_EQ(reading.payloads.size(), records);
  EXPECT_EQ(reading.failure.code(), StatusCode::kDataLoss);
  EXPECT_EQ(reading.failure.where().record, static_cast<std::int64_t>(records));
  EXPECT_EQ(reading.failure.where().offset, offset);
  EXPECT_NE(reading.failure.where().path, "");
  EXPECT_NE(reading.failure.message().find(words), std::string::npos) << reading.failure.to_string();
}

TEST(ShardReader, EmptyFileAndEmptyRecords) {
  EXPECT_TRUE(read_bytes("").failure.ok());
  const Reading reading = read_bytes(framed("a") + framed("") + framed("b"));
  EXPECT_EQ(reading.payloads, (std::vector<std::string>{"a", "", "b"}));
}

TEST(ShardReader, AFlippedBitInEachPartOfARecord) {
  const std::string good = shard_bytes(0, 5);
  for (const std::size_t place : {0U, 7U, 8U, 11U, 12U, 14U, 15U, 18U}) {
    std::string bytes = good;
    bytes[3 * kRecord + place] ^= 0x10;
    const auto offset = static_cast<std::int64_t>(3 * kRecord);
    expect_loss(read_bytes(bytes), 3, offset, "corrupted record at " + std::to_string(offset));
    const Reading skipped = read_bytes(bytes, kSkip);
    EXPECT_EQ(skipped.payloads, (std::vector<std::string>{"0.0", "0.1", "0.2", "0.4"})) << place;
    EXPECT_EQ(skipped.ordinals, (std::vector<std::uint64_t>{0, 1, 2, 4}));
    ASSERT_EQ(skipped.damage.size(), 1U);
    EXPECT_EQ(skipped.damage[0].reason.where().record, 3);
    EXPECT_EQ(skipped.damage[0].reason.where().offset, offset);
    EXPECT_EQ(skipped.damage[0].end, static_cast<std::int64_t>(4 * kRecord));
    EXPECT_EQ(skipped.damage[0].records, place < kHeaderBytes ? -1 : 1);
  }
}

TEST(ShardReader, CutAnywhereIsALossExceptBetweenRecords) {
  const std::string good = shard_bytes(0, 3);
  for (std::size_t size = 0; size <= good.size(); ++size) {
    const Reading reading = read_bytes(good.substr(0, size));
    EXPECT_EQ(reading.payloads.size(), size / kRecord);
    if (size % kRecord == 0) {
      EXPECT_TRUE(reading.failure.ok()) << reading.failure.to_string();
      continue;
    }
    const auto offset = static_cast<std::int64_t>(size / kRecord * kRecord);
    expect_loss(reading, size / kRecord, offset, "truncated record at " + std::to_string(offset));
    const Reading skipped = read_bytes(good.substr(0, size), kSkip);
    EXPECT_TRUE(skipped.failure.ok());
    EXPECT_EQ(skipped.payloads.size(), size / kRecord);
    ASSERT_EQ(skipped.damage.size(), 1U);
    EXPECT_EQ(skipped.damage[0].reason.where().offset, offset);
    EXPECT_EQ(skipped.damage[0].end, static_cast<std::int64_t>(size));
    EXPECT_EQ(skipped.damage[0].records, -1);
  }
}

TEST(ShardReader, NotATfrecordFileSaysWhatItLooksLike) {
  const std::pair<std::string, std::string> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git-lfs pointer"},
      {std::string("PK\x03\x04", 4) + std::string(40, '\x01'), "zip"},
      {std::string("\x1F\x8B\x08\0\0\0\0\0\0\0\0\0\0", 13), "gzip"},
      {"a,b,c\n1,2,3\n4,5,6\n", "text"},
      {std::string("\x28\xB5\x2F\xFD", 4) + std::string(40, '\x01'), "zstd"},
  };
  for (const auto& [bytes, words] : files) {
    const Reading reading = read_bytes(bytes, {.compression = CompressionType::kNone});
    expect_loss(reading, 0, 0, words);
    EXPECT_NE(reading.failure.message().find("Is this even a TFRecord file?"), std::string::npos);
    EXPECT_EQ(read_bytes(bytes, {.compression = CompressionType::kNone, .on_corrupt = OnCorrupt::kSkip}).damage.size(),
              1U);
  }
}

TEST(ShardReader, ImpossibleLengthsAllocateNothing) {
  for (const std::uint64_t length :
       {std::uint64_t{0x80000007}, std::uint64_t{1} << 36, std::uint64_t{1} << 40, (std::uint64_t{1} << 63) - 1,
        std::uint64_t{1} << 63, ~std::uint64_t{15}, ~std::uint64_t{4}, ~std::uint64_t{0}}) {
    std::string header(kHeaderBytes, '\0');
    make_header(length, reinterpret_cast<std::uint8_t*>(header.data()));
    const std::string bytes = shard_bytes(0, 2) + header + "short";
    expect_loss(read_bytes(bytes), 2, static_cast<std::int64_t>(2 * kRecord), "truncated record at");
    const Reading skipped = read_bytes(bytes + framed("later"), kSkip);
    EXPECT_EQ(skipped.payloads, (std::vector<std::string>{"0.0", "0.1", "later"}));
  }
}

TEST(ShardReader, TheRecordLimitIsNamed) {
  const std::string bytes = framed("short") + framed(std::string(2000, 'x')) + framed("short");
  for (const OnCorrupt policy : {OnCorrupt::kRaise, OnCorrupt::kSkip}) {
    const Reading reading = read_bytes(bytes, {.on_corrupt = policy, .max_record_bytes = 1999});
    EXPECT_EQ(reading.payloads.size(), 1U);
    EXPECT_EQ(reading.failure.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(reading.failure.message().find("max_record_bytes = 1999"), std::string::npos);
    EXPECT_EQ(reading.failure.where().record, 1);
  }
  EXPECT_TRUE(read_bytes(bytes, {.max_record_bytes = 2000}).failure.ok());
}

TEST(ShardReader, VerifyChoosesTheChecksums) {
  std::string bad_payload = shard_bytes(0, 3);
  bad_payload[kRecord + kHeaderBytes] ^= 1;
  EXPECT_FALSE(read_bytes(bad_payload).failure.ok());
  EXPECT_EQ(read_bytes(bad_payload, {.verify = Verify::kHeader}).payloads.size(), 3U);
  std::string bad_header = shard_bytes(0, 3);
  bad_header[kRecord + 8] ^= 1;
  EXPECT_FALSE(read_bytes(bad_header, {.verify = Verify::kHeader}).failure.ok());
  EXPECT_EQ(read_bytes(bad_header, {.verify = Verify::kOff}).payloads.size(), 3U);
  const Reading zeros = read_bytes(shard_bytes(0, 2) + std::string(4096, '\0'), {.verify = Verify::kOff});
  expect_loss(zeros, 2, static_cast<std::int64_t>(2 * kRecord), "corrupted record at");
}

TEST(ShardReader, EveryRecordSizeAroundTheBordersOfBlocks) {
  const ScratchFolder folder;
  for (const std::size_t bytes : {1U, 700U, 4000U, 16'367U, 16'368U, 16'369U, 65'500U, 65'520U, 65'536U, 300'000U}) {
    const std::size_t records = 600'000 / bytes % 1000 + 5;
    const std::string path = folder.write("shard", shard_bytes(0, records, bytes));
    const Reading reading = read_file(path);
    ASSERT_TRUE(reading.failure.ok()) << reading.failure.to_string();
    ASSERT_EQ(reading.payloads.size(), records);
    for (std::size_t i = 0; i < records; ++i) ASSERT_EQ(reading.payloads[i], payload_of(0, i, bytes));
    const std::size_t middle = records / 2;
    const std::uint64_t whole = framed(payload_of(0, middle, bytes)).size();
    if (bytes < 4) continue;  // names of different length
    const Reading rest = read_file(path, {}, {.ordinal = middle, .offset = middle * whole});
    ASSERT_EQ(rest.payloads.size(), records - middle);
    EXPECT_EQ(rest.ordinals.front(), middle);
    EXPECT_EQ(rest.payloads.front(), reading.payloads[middle]);
  }
}

TEST(ShardReader, SkippingResynchronisesBehindLargeDamage) {
  std::string bytes = shard_bytes(0, 20, 50'000);
  const std::size_t whole = bytes.size() / 20;
  for (std::size_t i = 5 * whole + 100; i < 7 * whole + 200; ++i) bytes[i] = static_cast<char>(i * 31);
  bytes[12 * whole + 3] ^= 4;  // a length
  const Reading reading = read_bytes(bytes, kSkip);
  EXPECT_TRUE(reading.failure.ok()) << reading.failure.to_string();
  EXPECT_EQ(reading.payloads.size(), 16U);
  EXPECT_EQ(reading.payloads.back(), payload_of(0, 19, 50'000));
  ASSERT_EQ(reading.damage.size(), 2U);
  // Where record 5 ends by its header, none begins: where the next one does is looked for.
  const std::pair<std::size_t, std::size_t> regions[] = {{5, 8}, {12, 13}};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(reading.damage[i].reason.where().offset, static_cast<std::int64_t>(regions[i].first * whole));
    EXPECT_EQ(reading.damage[i].end, static_cast<std::int64_t>(regions[i].second * whole));
  }
}

TEST(ShardReader, MissingFileAndFolderAreNotSkipped) {
  const ScratchFolder folder;
  EXPECT_EQ(read_file(folder.path("none"), kSkip).failure.code(), StatusCode::kNotFound);
  EXPECT_EQ(read_file(folder.path(""), kSkip).failure.code(), StatusCode::kIo);
}

}  // namespace
}  // namespace headrace

// Lengths that are claimed, not held: what is read, what is refused, and how much memory that takes.
#include "record/length_limit.h"

#include <cstdlib>

#include "record/record_testing.h"
#include "record/shard_reader.h"
#include "runtime/memory_budget.h"
#include "shard/byte_sink.h"

namespace headrace {
namespace {

using testing::framed;
using testing::ScratchFolder;

std::string header_of(std::uint64_t length) {
  std::string header(kHeaderBytes, '\0');
  make_header(length, reinterpret_cast<std::uint8_t*>(header.data()));
  return header;
}

struct Reading {
  std::size_t records = 0;
  Status failure;
  std::int64_t most_bytes = 0;
};

class LengthLimit : public ::testing::TestWithParam<Compression> {
 protected:
  /// One record, a header that claims `length`, and `zeros` zero bytes behind it, compressed.
  void write(std::uint64_t length, std::size_t zeros) const {
    auto sink = ByteSink::create(path_, GetParam(), 1);
    ASSERT_TRUE(sink.ok());
    const auto put = [&sink](const std::string& bytes) {
      ASSERT_TRUE((*sink)->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}).ok());
    };
    put(framed("first"));
    put(header_of(length));
    const std::string piece(1 << 20, '\0');
    for (; zeros >= piece.size(); zeros -= piece.size()) put(piece);
    put(piece.substr(0, zeros));
    ASSERT_TRUE((*sink)->close().ok());
  }

  Reading read(const ReadOptions& options) const {
    BlockPool blocks;
    Reading reading;
    ShardReader reader(&blocks, {.path = path_}, 0, options, {});
    for (;;) {
      ShardPiece piece;
      const ReadStep step = reader.step(true, &piece);
      reading.most_bytes = std::max(reading.most_bytes, blocks.bytes_in_use() + blocks.bytes_free());
      if (step != ReadStep::kBlock) {
        reading.failure = piece.failure;
        return reading;
      }
      reading.records += piece.block->records.size();
      const RecordRun whole{piece.block, 0, static_cast<std::uint32_t>(piece.block->records.size())};
      blocks.release({&whole, 1});
    }
  }

  const ScratchFolder folder_;
  const std::string path_ = folder_.path("shard");
};

TEST_P(LengthLimit, AQuarterOfTheBudgetIsTheDefault) {
  constexpr std::int64_t kBudget = 64 << 20;
  write((16 << 20) + 1, 40 << 20);
  for (const OnCorrupt policy : {OnCorrupt::kRaise, OnCorrupt::kSkip}) {
    const Reading reading = read({.on_corrupt = policy, .memory_bytes = kBudget});
    EXPECT_EQ(reading.records, 1U);
    EXPECT_EQ(reading.failure.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(reading.failure.message().find("max_record_bytes = 16777216, a quarter of the memory budget"),
              std::string::npos)
        << reading.failure.to_string();
    EXPECT_EQ(reading.failure.where().record, 1);
    EXPECT_EQ(reading.failure.where().offset, static_cast<std::int64_t>(framed("first").size()));
    EXPECT_LT(reading.most_bytes, 1 << 20);
  }
  setenv("HEADRACE_MEMORY_LIMIT", "64M", 1);
  const Reading reading = read({});
  setenv("HEADRACE_MEMORY_LIMIT", "many", 1);
  EXPECT_EQ(read({}).failure.code(), StatusCode::kInvalidArgument);
  unsetenv("HEADRACE_MEMORY_LIMIT");
  EXPECT_EQ(reading.failure.code(), StatusCode::kResourceExhausted) << reading.failure.to_string();
  // Within the limit the record is read, and found to have no right checksum.
  EXPECT_EQ(read({.max_record_bytes = 17 << 20, .memory_bytes = kBudget}).failure.code(), StatusCode::kDataLoss);
}

TEST_P(LengthLimit, ABombTakesNoMoreThanTheLimit) {
  constexpr std::int64_t kLimit = 24 << 20;
  write(kLimit, 200 << 20);
  const Reading reading = read({.max_record_bytes = kLimit});
  EXPECT_EQ(reading.failure.code(), StatusCode::kDataLoss) << reading.failure.to_string();
  EXPECT_LT(reading.most_bytes, 3 * kLimit);  // what is full, what it grows into, and what both had been before
}

TEST_P(LengthLimit, WhatIsClaimedIsNotAllocated) {
  write(UINT32_MAX, 1000);
  const Reading reading = read({.max_record_bytes = UINT32_MAX});
  EXPECT_EQ(reading.records, 1U);
  EXPECT_EQ(reading.failure.code(), StatusCode::kDataLoss) << reading.failure.to_string();
  EXPECT_LT(reading.most_bytes, 6 << 20);
}

TEST_P(LengthLimit, ImpossibleLengthsAreRefused) {
  for (const std::uint64_t length : {std::uint64_t{1} << 32, std::uint64_t{1} << 36, std::uint64_t{1} << 40}) {
    write(length, 30 << 20);
    for (const OnCorrupt policy : {OnCorrupt::kRaise, OnCorrupt::kSkip}) {
      const Reading reading = read({.on_corrupt = policy});
      EXPECT_EQ(reading.records, 1U);
      EXPECT_EQ(reading.failure.code(), StatusCode::kResourceExhausted);
      EXPECT_NE(reading.failure.message().find(std::to_string(length)), std::string::npos);
      EXPECT_LT(reading.most_bytes, 1 << 20);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, LengthLimit,
                         ::testing::Values(Compression::kGzip, Compression::kZlib, Compression::kZstd,
                                           Compression::kSnappy));

TEST(LengthLimits, WithoutABudgetItIsThatOfTheProcess) {
  const auto quarter = static_cast<std::uint64_t>(memory_of_process() / 4);
  EXPECT_EQ(*stream_length_limit({}), std::min<std::uint64_t>(quarter, UINT32_MAX));
  EXPECT_EQ(*stream_length_limit({.max_record_bytes = 7}), 7U);
  EXPECT_EQ(length_limit({}), UINT32_MAX);
}

}  // namespace
}  // namespace headrace

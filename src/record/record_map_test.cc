// The map of records, and reading its pieces: every record is in one piece, at its place, whatever the size of the pieces.
#include "record/record_map.h"

#include "record/framing.h"
#include "record/piece_reader.h"
#include "record/piece_window.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::framed;
using testing::payload_of;
using testing::ScratchFolder;
using testing::shard_bytes;
using testing::SourceWorld;

RecordIndex index_of(std::vector<std::uint32_t> lengths) {
  RecordIndex index;
  index.lengths = std::move(lengths);
  return index;
}

TEST(RecordMap, NumbersRecordsAndPiecesThroughAllParts) {
  const std::vector<RecordIndex> indexes = {index_of({5, 0, 100, 7}), index_of({}), index_of({1, 1, 1, 1, 1, 1})};
  const ShardParts parts = {
      {.shard = 4, .first = {.ordinal = 1, .offset = 21}}, {.shard = 5}, {.shard = 2, .first = {}, .end_ordinal = 5}};
  for (const std::uint64_t piece_bytes : {0, 1, 34, 60, 100'000}) {
    const RecordMap map(parts, indexes, piece_bytes, std::nullopt);
    ASSERT_EQ(map.records(), 8U);
    std::vector<RecordId> records;
    for (std::uint64_t p = 0; p < map.pieces(); ++p) {
      const Piece piece = map.piece(p);
      EXPECT_EQ(piece.number, records.size());
      ASSERT_GE(piece.records, 1U);
      if (piece.records > 1) {
        EXPECT_LE(piece.bytes, piece_bytes);
      }
      const std::vector<std::uint32_t>& lengths = indexes[piece.shard == 4 ? 0 : 2].lengths;
      std::uint64_t offset = piece.first.offset;
      for (std::uint64_t i = 0; i < piece.records; ++i) {
        EXPECT_EQ(map.piece_of(records.size()), p);
        records.push_back({piece.shard, piece.first.ordinal + i, offset});
        offset += kFrameBytes + lengths[piece.first.ordinal + i];
      }
      EXPECT_EQ(offset - piece.first.offset, piece.bytes);
    }
    ASSERT_EQ(records.size(), 8U);
    EXPECT_EQ(records[0].offset, 21U);
    EXPECT_EQ(records[2].offset, 21U + 16 + 116);
    EXPECT_EQ(records[3].shard, 2U);
    EXPECT_EQ(records[7].ordinal, 4U);
  }
  EXPECT_EQ(RecordMap(parts, indexes, 0, std::nullopt).pieces(), 8U);
  EXPECT_EQ(RecordMap(parts, indexes, 100'000, std::nullopt).pieces(), 2U);
}

TEST(RecordMap, ShardsOfLargeRecordsAreLocated) {
  const std::vector<RecordIndex> indexes = {index_of({100, 300}), index_of({99, 99})};
  const RecordMap map({{.shard = 0}, {.shard = 1}}, indexes, 1000, 200);
  EXPECT_EQ(map.piece(0).lengths.size(), 2U);
  EXPECT_TRUE(map.piece(1).lengths.empty());
}

struct ReadPiece {
  std::vector<std::string> payloads;
  PieceContent content;
};

// Piece 0 of a map of one shard, given back at once.
ReadPiece read_piece(const std::string& path, const std::vector<std::uint32_t>& lengths,
                     const ReadOptions& options = {}, ShardPlace first = {}) {
  SourceWorld world({path});
  RecordLoader loader(world.shards, options.verify);
  SourceContext context = world.context();
  context.loader = &loader;
  RecordIndex index = index_of(lengths);
  index.path = "/its/index";
  const RecordMap map({{.shard = 0, .first = first}}, {index}, 1 << 20, std::nullopt);
  ReadPiece read;
  EXPECT_TRUE(PieceReader(context, options).read(map.piece(0), true, &read.content));
  for (std::uint64_t i = 0; i < map.piece(0).records; ++i) {
    const RecordRun run = read.content.find(first.ordinal + i);
    if (run.block == nullptr) {
      read.payloads.emplace_back("-");
      continue;
    }
    const auto payload = run.block->payload(run.first);
    read.payloads.emplace_back(payload.begin(), payload.end());
    world.blocks.release({&run, 1});
  }
  EXPECT_EQ(world.blocks.bytes_in_use(), 0);
  return read;
}

TEST(PieceReader, ReadsTheRecordsThatTheIndexTellsOf) {
  const ScratchFolder folder;
  const std::string path = folder.write("a", framed("12345") + framed("") + framed("123") + framed("x"));
  const ReadPiece all = read_piece(path, {5, 0, 3, 1});
  EXPECT_TRUE(all.content.failure.ok()) << all.content.failure.to_string();
  EXPECT_EQ(all.payloads, (std::vector<std::string>{"12345", "", "123", "x"}));
  EXPECT_EQ(read_piece(path, {5, 0, 3}, {}, {.ordinal = 1, .offset = 21}).payloads,
            (std::vector<std::string>{"", "123"}));
}

TEST(PieceReader, AnIndexThatIsNotRightIsNamedWithTheShard) {
  const ScratchFolder folder;
  const std::string path = folder.write("a", framed("12345") + framed("") + framed("123") + framed("x"));
  struct Case {
    std::vector<std::uint32_t> lengths;
    ShardPlace first;
  };
  const Case cases[] = {
      {{5, 0, 4}, {}},                                  // an end between two records
      {{5, 0, 3, 4}, {.ordinal = 1, .offset = 20}},     // a jump between two headers
      {{5, 0, 3, 1, 2}, {}},                            // more than there is
      {{5, 0, 3, 1, 2}, {.ordinal = 4, .offset = 73}},  // behind the end
      {{5, 0}, {.ordinal = 1, .offset = 37}},           // a jump to the record behind it
  };
  for (const Verify verify : {Verify::kFull, Verify::kHeader, Verify::kOff}) {
    for (const Case& wrong : cases) {
      const Status failure = read_piece(path, wrong.lengths, {.verify = verify}, wrong.first).content.failure;
      EXPECT_EQ(failure.code(), StatusCode::kDataLoss);
      EXPECT_NE(failure.message().find("the index /its/index"), std::string::npos) << failure.to_string();
      EXPECT_EQ(failure.where().path, path);
    }
  }
}

TEST(PieceReader, DamageIsToldAsWhenReadingInOrder) {
  const ScratchFolder folder;
  std::string bytes = framed("12345") + framed("abc") + framed("123") + framed("x");
  bytes[21 + 12] ^= 1;
  const std::string path = folder.write("a", bytes);
  const ReadPiece raised = read_piece(path, {5, 3, 3, 1});
  EXPECT_EQ(raised.payloads, (std::vector<std::string>{"12345", "-", "-", "-"}));
  EXPECT_EQ(raised.content.failure.message(), "corrupted record at 21: the checksum of its data does not match");
  EXPECT_EQ(raised.content.failure.where().record, 1);
  const ReadPiece skipped = read_piece(path, {5, 3, 3, 1}, {.on_corrupt = OnCorrupt::kSkip});
  EXPECT_TRUE(skipped.content.failure.ok());
  EXPECT_EQ(skipped.payloads, (std::vector<std::string>{"12345", "-", "123", "x"}));
  ASSERT_EQ(skipped.content.damage.size(), 1U);
  EXPECT_EQ(skipped.content.damage[0].end, 40);
  // The damage of what is not of the piece is not its own.
  EXPECT_TRUE(read_piece(path, {5}).content.failure.ok());
  EXPECT_TRUE(read_piece(path, {5}, {.on_corrupt = OnCorrupt::kSkip}).content.damage.empty());
}

}  // namespace
}  // namespace headrace

// Indexes for an option that needs them: made by walking over headers, found again, kept in memory where there is no place,
// and refused where making them takes long.
#include "record/shard_indexes.h"

#include <cstdlib>

#include "headrace/records.h"
#include "record/header_walk.h"
#include "record/record_testing.h"

namespace headrace {
namespace {

using testing::framed;
using testing::ScratchFolder;
using testing::shard_bytes;

const WalkProgress kNoProgress = [](std::uint64_t) { return Status(); };

Result<RecordIndex> walk(const std::string& path, const ReadOptions& options = {}) {
  return walk_headers(path, options, kNoProgress);
}

class ShardIndexes : public ::testing::Test {
 protected:
  ShardIndexes() { use_cache(folder_.path("cache")); }
  ~ShardIndexes() override { unsetenv("HEADRACE_CACHE_DIR"); }

  static void use_cache(const std::string& path) { setenv("HEADRACE_CACHE_DIR", path.c_str(), 1); }

  Result<std::vector<RecordIndex>> get(const std::vector<std::string>& paths, const IndexWish& wish = {"a test"}) {
    ShardList shards;
    std::vector<std::uint32_t> wanted;
    for (const std::string& path : paths) {
      wanted.push_back(static_cast<std::uint32_t>(shards.files.size()));
      shards.files.push_back({path, std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0});
    }
    return find_or_make_indexes(shards, wanted, {}, wish, &memory_, &warnings_);
  }

  const ScratchFolder folder_;
  IndexMemory memory_;
  WarningLog warnings_;
};

TEST(HeaderWalk, FindsWhatReadingEverythingFinds) {
  const ScratchFolder folder;
  for (const CompressionType compression : {CompressionType::kNone, CompressionType::kGzip}) {
    for (const std::size_t scale : {0, 1, 700, 40'000}) {  // from records of nothing to those that are jumped over
      const std::string path = folder.path("a");
      auto writer = RecordWriter::open(path, {.compression = compression});
      ASSERT_TRUE(writer.ok());
      for (std::size_t i = 0; i < 61; ++i) ASSERT_TRUE(writer->write(std::string(i * scale % 99'991, 'x')).ok());
      ASSERT_TRUE(writer->close().ok());
      const Result<RecordIndex> walked = walk(path);
      ASSERT_TRUE(walked.ok()) << walked.status().to_string();
      const Result<RecordIndex> built = build_index(path);
      EXPECT_EQ(walked->lengths, built->lengths) << scale;
      EXPECT_EQ(walked->identity, built->identity);
    }
  }
  EXPECT_TRUE(walk(folder.write("empty", ""))->lengths.empty());
}

TEST(HeaderWalk, EveryCutIsADamageAndPayloadsAreNotLookedAt) {
  const ScratchFolder folder;
  const std::string whole = framed("12345") + framed("") + framed("123");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Result<RecordIndex> walked = walk(folder.write("a", whole.substr(0, size)));
    const bool between = size == 21 || size == 37;
    EXPECT_EQ(walked.ok(), between) << size;
    if (between) continue;
    EXPECT_EQ(walked.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(walked.status().message().find("truncated record at "), std::string::npos) << walked.status().to_string();
  }
  std::string flipped = whole;
  flipped[14] ^= 1;
  EXPECT_EQ(walk(folder.write("a", flipped))->lengths, (std::vector<std::uint32_t>{5, 0, 3}));
  flipped[22] ^= 1;
  const Status damage = walk(folder.write("a", flipped)).status();
  EXPECT_EQ(damage.code(), StatusCode::kDataLoss);
  EXPECT_EQ(damage.where().record, 1);
  EXPECT_EQ(damage.where().offset, 21);
}

TEST_F(ShardIndexes, AreMadeOnceAndFoundFromThenOn) {
  const std::vector<std::string> paths = {folder_.write("a", shard_bytes(0, 9)), folder_.write("b", shard_bytes(1, 4)),
                                          folder_.write("none", "")};
  for (int round = 0; round < 2; ++round) {
    const auto indexes = get(paths);
    ASSERT_TRUE(indexes.ok()) << indexes.status().to_string();
    EXPECT_EQ((*indexes)[0].lengths.size(), 9U);
    EXPECT_EQ((*indexes)[1].lengths.size(), 4U);
    EXPECT_TRUE((*indexes)[2].lengths.empty());
    EXPECT_EQ((*indexes)[0].path, *index_path(paths[0], IndexPlace::kCache));
    EXPECT_TRUE(find_index(paths[1])->has_value());
  }
  EXPECT_TRUE(warnings_.texts().empty());
}

TEST_F(ShardIndexes, OneThatIsStaleOrDamagedIsMadeAnewAndWhatIsBesideStays) {
  const std::string path = folder_.write("a", shard_bytes(0, 9));
  ASSERT_TRUE(write_index(path, IndexPlace::kBeside).ok());
  folder_.write("a", shard_bytes(0, 10));
  EXPECT_EQ(get({path})->front().lengths.size(), 10U);
  EXPECT_EQ(read_index(folder_.path(".a.hrindex"))->lengths.size(), 9U) << "that of others is read only";
  const std::string cached = *index_path(path, IndexPlace::kCache);
  std::filesystem::resize_file(cached, 20);
  EXPECT_EQ(get({path})->front().lengths.size(), 10U);
  EXPECT_TRUE(read_index(cached).ok());
}

TEST_F(ShardIndexes, StayInMemoryWithOneWarningWhereTheCacheCannotBeWritten) {
  const std::vector<std::string> paths = {folder_.write("a", shard_bytes(0, 9)), folder_.write("b", shard_bytes(1, 4))};
  use_cache(folder_.write("file", "not a folder"));
  for (int round = 0; round < 2; ++round) {
    const auto indexes = get(paths);
    ASSERT_TRUE(indexes.ok()) << indexes.status().to_string();
    EXPECT_EQ((*indexes)[1].lengths.size(), 4U);
    EXPECT_EQ(warnings_.texts().size(), 1U);
  }
  EXPECT_TRUE(memory_.find(paths[0]).has_value());
  folder_.write("a", shard_bytes(0, 11));
  EXPECT_EQ(get(paths)->front().lengths.size(), 11U) << "one in memory can be stale, too";
  EXPECT_NE(index_name(get(paths)->front()).find("made when"), std::string::npos);
}

TEST_F(ShardIndexes, AreNotMadeWhereItTakesLong) {
  const std::vector<std::string> paths = {folder_.write("a", shard_bytes(0, 9)), folder_.write("b", shard_bytes(1, 4))};
  const auto refused = get(paths, {.needed_by = "shuffle(\"global\")", .most_seconds = 0, .measured_seconds = 0});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  for (const char* part : {"shuffle(\"global\") needs", "2 files", "headrace index FILES"}) {
    EXPECT_NE(refused.status().message().find(part), std::string::npos) << refused.status().to_string();
  }
  EXPECT_TRUE(get(paths, {.needed_by = "a test", .most_seconds = std::nullopt, .measured_seconds = 0}).ok());
  EXPECT_TRUE(get(paths, {.needed_by = "a test", .most_seconds = 0, .measured_seconds = 0}).ok()) << "found now";
}

TEST_F(ShardIndexes, ADamagedFileHasNone) {
  std::string bytes = shard_bytes(0, 9);
  bytes[8] ^= 1;
  const auto failed = get({folder_.write("a", bytes)});
  EXPECT_EQ(failed.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(failed.status().message().find("headrace repair"), std::string::npos) << failed.status().to_string();
  EXPECT_EQ(get({folder_.path("nothing")}).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace headrace

#include "shard/file_list.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "shard/shard_names.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

// The header, payload and footer of a record of 0 bytes.
const std::string kRecord = "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"s;

class FileListTest : public ::testing::Test {
 protected:
  FileListTest() : root_((fs::temp_directory_path() / "headrace-files-XXXXXX").string()) {
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
  }
  ~FileListTest() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string make(const std::string& name, const std::string& bytes = kRecord) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  Result<ShardList> find(const std::string& item) const { return find_shards({.items = {item}}); }
  static std::string names(const Result<ShardList>& list) {
    if (!list.ok()) return list.status().to_string();
    std::string text;
    for (const ShardFile& file : list->files) text += (text.empty() ? "" : " ") + std::string(base_name(file.path));
    return text;
  }

  std::string root_;
};

bool mentions(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

TEST_F(FileListTest, OnePathAndItsSize) {
  const auto list = find(make("a b [1]{x}~#.tfrecord"));
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  ASSERT_EQ(list->files.size(), 1U);
  EXPECT_EQ(list->files[0].bytes, kRecord.size());
  EXPECT_TRUE(list->warnings.empty());
}

TEST_F(FileListTest, PatternsAreSortedByBytesAndLeaveSideFilesOut) {
  for (const char* name : {"s-2", "s-10", "s-1", "s-B", "s-a", ".s-3", "s-1.crc", "s-4~"}) make(name);
  fs::create_directory(path("s-folder"));
  const auto list = find(path("s-*"));
  EXPECT_EQ(names(list), "s-1 s-10 s-2 s-B s-a");
  ASSERT_EQ(list->warnings.size(), 1U);
  for (const char* left_out : {"s-1.crc", "s-4~", "s-folder"}) EXPECT_TRUE(mentions(list->warnings[0], left_out));
  EXPECT_EQ(names(find(path("s-[0-9]"))), "s-1 s-2");
}

TEST_F(FileListTest, APatternWithoutMatchIsNotFound) {
  make("a");
  const auto list = find(path("train-*.tfrecord"));
  EXPECT_EQ(list.status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(mentions(list.status().message(), "train-*.tfrecord"));
}

TEST_F(FileListTest, FoldersAreReadByContent) {
  make("part-0");
  make("part-1");
  make("_SUCCESS", "");
  make(".part-0.crc", "crc");
  make("README", "what this is");
  fs::create_directory(path("more"));
  const auto list = find(root_);
  EXPECT_EQ(names(list), "part-0 part-1");
  ASSERT_EQ(list->warnings.size(), 1U);
  EXPECT_TRUE(mentions(list->warnings[0], "README"));
  EXPECT_TRUE(mentions(list->warnings[0], "more"));
  make("damaged.tfrecord", "not a record at all");
  EXPECT_EQ(names(find(root_ + "/")), "damaged.tfrecord part-0 part-1") << "a name that promises records is believed";
}

TEST_F(FileListTest, AFolderWithoutShardsIsNotFound) {
  EXPECT_EQ(find(root_).status().code(), StatusCode::kNotFound);
  make("README", "text");
  const auto list = find(root_);
  EXPECT_EQ(list.status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(mentions(list.status().message(), "README"));
}

TEST_F(FileListTest, AMissingShardOfASetIsNamed) {
  for (const char* index : {"00000", "00001", "00003"}) make("train-"s + index + "-of-00004.tfrecord");
  const auto folder = find(root_);
  EXPECT_EQ(folder.status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(mentions(folder.status().message(), "train-00002-of-00004.tfrecord"));
  const auto pattern = find(path("train-*"));
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->files.size(), 3U);
  ASSERT_EQ(pattern->warnings.size(), 1U);
  EXPECT_TRUE(mentions(pattern->warnings[0], "train-00002-of-00004.tfrecord"));
}

TEST_F(FileListTest, ListsKeepTheirOrderAndAreLiteral) {
  make("b");
  make("a");
  make("a*");
  const auto list = find_shards({.items = {path("b"), path("a*"), path("a")}, .is_list = true});
  EXPECT_EQ(names(list), "b a* a");
}

TEST_F(FileListTest, AllMissingFilesAreNamedAtOnce) {
  make("a");
  const auto list = find_shards({.items = {path("x"), path("a"), path("y")}, .is_list = true});
  EXPECT_EQ(list.status().code(), StatusCode::kNotFound);
  for (const char* word : {"2 of 3", "/x", "/y"}) EXPECT_TRUE(mentions(list.status().message(), word)) << word;
  EXPECT_EQ(find(path("x")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(find(path("x")).status().where().path, path("x"));
}

TEST_F(FileListTest, WhatIsNotAFileIsRefused) {
  make("a");
  fs::create_directory(path("folder"));
  const auto folder = find_shards({.items = {path("a"), path("folder")}, .is_list = true});
  EXPECT_EQ(folder.status().code(), StatusCode::kIo);
  EXPECT_TRUE(mentions(folder.status().message(), "directory"));
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(find(path("fifo")).status().code(), StatusCode::kIo);
  fs::create_symlink(path("nowhere"), path("broken"));
  EXPECT_EQ(find(path("bro*")).status().code(), StatusCode::kNotFound);
}

TEST_F(FileListTest, UnreadableFilesAndFoldersAreNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  chmod(make("a").c_str(), 0);
  EXPECT_EQ(find(path("a")).status().code(), StatusCode::kPermissionDenied);
  make("sub/b");
  chmod(path("sub").c_str(), 0);
  EXPECT_EQ(find(path("*/b")).status().code(), StatusCode::kPermissionDenied);
  chmod(path("sub").c_str(), 0700);
}

TEST_F(FileListTest, DoublesAndEmptyShardsAreWarnings) {
  make("a");
  make("empty", "");
  fs::create_symlink(path("a"), path("link"));
  const auto list = find_shards({.items = {path("a"), path("empty"), path("a"), path("link")}, .is_list = true});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->files.size(), 4U);
  ASSERT_EQ(list->warnings.size(), 2U);
  EXPECT_TRUE(mentions(list->warnings[0], "twice"));
  EXPECT_TRUE(mentions(list->warnings[0], path("link")));
  EXPECT_TRUE(mentions(list->warnings[1], path("empty")));
}

TEST_F(FileListTest, NothingToReadIsAnArgumentError) {
  EXPECT_EQ(find_shards({.items = {}, .is_list = true}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(find("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(find("a\0b"s).status().code(), StatusCode::kInvalidArgument);
}

TEST(ShardNames, MissingShardsOfManySets) {
  const std::vector<std::string> paths = {"d/a-0-of-2", "d/b-00000-of-00002.gz", "d/b-00001-of-00002.gz", "d/c-x-of-3",
                                          "e/a-1-of-2"};
  EXPECT_EQ(missing_shards(paths, 9), (std::vector<std::string>{"d/a-1-of-2", "e/a-0-of-2"}));
  EXPECT_EQ(missing_shards(std::vector<std::string>{"x-0-of-999999999"}, 3).size(), 3U);
}

}  // namespace
}  // namespace headrace

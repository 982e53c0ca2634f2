// Seek points: what follows from one is what follows when the file is inflated from its beginning, and nothing else is read.
#include "shard/seek_points.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/random.h"
#include "shard/byte_sink.h"
#include "shard/byte_source.h"

namespace headrace {
namespace {

class SeekPoints : public ::testing::Test {
 protected:
  SeekPoints() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headrace-seek-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SeekPoints() override { std::filesystem::remove_all(folder_); }

  std::string member(std::string_view text) const {
    const std::string path = folder_ + "/member";
    auto sink = ByteSink::create(path, Compression::kGzip, 1);
    EXPECT_TRUE((*sink)->write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}).ok());
    EXPECT_TRUE((*sink)->close().ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string write(std::string_view bytes) const {
    std::ofstream(folder_ + "/file.gz", std::ios::binary) << bytes;
    return folder_ + "/file.gz";
  }

  std::string folder_;
};

// Text that refers back to itself now and then, and is not the same anywhere.
std::string text_of(std::size_t bytes, std::uint64_t key) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    const std::uint64_t number = random_u64(key, i);
    text += number % 3 == 0 ? std::string("word ") + std::to_string(number % 1000) : std::to_string(number);
  }
  text.resize(bytes);
  return text;
}

std::string read_rest(ByteSource* source, Status* failure) {
  std::string rest;
  std::vector<std::uint8_t> buffer(300'000);
  for (;;) {
    const Result<std::size_t> n = source->read(buffer.data(), buffer.size());
    *failure = n.status();
    if (!n.ok() || *n == 0) return rest;
    rest.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*n));
  }
}

TEST_F(SeekPoints, TheRestFollowsFromEveryPoint) {
  const std::string first = text_of(5'000'000, 1);
  const std::string second = text_of(3'000'000, 2);
  const std::string whole = first + second + "tail";
  const std::string path = write(member(first) + member("") + std::string(7, '\0') + member(second) + member("tail"));
  const auto points = find_seek_points(path);
  ASSERT_TRUE(points.ok()) << points.status().to_string();
  ASSERT_GE(points->size(), 5U);
  for (const SeekPoint& point : *points) {
    for (const std::uint64_t beyond : {0, 1, 500'000}) {
      const std::uint64_t offset = std::min<std::uint64_t>(point.stream_offset + beyond, whole.size());
      const auto source = open_byte_source({.path = path}, Compression::kAuto);
      ASSERT_TRUE((*source)->seek_from(*points, offset).ok());
      EXPECT_EQ((*source)->position(), offset);
      Status failure;
      EXPECT_TRUE(read_rest(source->get(), &failure) == whole.substr(offset)) << "from " << offset;
      EXPECT_TRUE(failure.ok()) << failure.to_string();
    }
  }
}

TEST_F(SeekPoints, WhatStandsBeforeIsNotRead) {
  const std::string text = text_of(6'000'000, 3);
  std::string bytes = member(text);
  const auto points = find_seek_points(write(bytes));
  ASSERT_TRUE(points.ok());
  std::fill(bytes.begin() + 100, bytes.begin() + 100'000, 'x');
  const std::string path = write(bytes);
  EXPECT_EQ(find_seek_points(path).status().code(), StatusCode::kDataLoss);
  const auto source = open_byte_source({.path = path}, Compression::kGzip);
  ASSERT_TRUE((*source)->seek_from(*points, 3'500'000).ok());
  Status failure;
  EXPECT_TRUE(read_rest(source->get(), &failure) == text.substr(3'500'000));
  // Forward it goes on, to a point where that is nearer, and before the first point from the beginning.
  ASSERT_TRUE((*source)->seek_from(*points, 2'500'000).ok());
  ASSERT_TRUE((*source)->seek_from(*points, 5'999'999).ok());
  EXPECT_EQ(read_rest(source->get(), &failure), text.substr(5'999'999));
  EXPECT_EQ((*source)->seek_from(*points, 90'000).code(), StatusCode::kDataLoss);
}

TEST_F(SeekPoints, DamageBehindAPointAndACutAreFailures) {
  const std::string text = text_of(4'000'000, 4);
  const std::string bytes = member(text);
  const auto points = find_seek_points(write(bytes));
  ASSERT_TRUE(points.ok());
  for (const std::size_t cut : {1, 5, 9, 100}) {
    const auto source = open_byte_source({.path = write(bytes.substr(0, bytes.size() - cut))}, Compression::kGzip);
    ASSERT_TRUE((*source)->seek_from(*points, 3'000'000).ok());
    Status failure;
    read_rest(source->get(), &failure);
    EXPECT_EQ(failure.code(), StatusCode::kDataLoss) << cut;
  }
}

TEST_F(SeekPoints, ThereAreNeverTooMany) {
  const std::string one = member(text_of(2'000'000, 5));
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += one;
  const auto points = find_seek_points(write(bytes));
  ASSERT_TRUE(points.ok());
  EXPECT_LE(points->size(), kMostSeekPoints);
  EXPECT_GT(points->size(), kMostSeekPoints / 4);
}

}  // namespace
}  // namespace headrace

#include "tensor/padded_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "example/feature_view.h"

namespace headrace {
namespace {

std::vector<std::string> texts_of(const PaddedRows& padded) {
  std::vector<std::string> texts;
  for (const RecordBytes& row : padded.rows) texts.emplace_back(row.begin(), row.end());
  return texts;
}

bool lies_in(const RecordBytes& row, const std::string& memory) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(memory.data());
  return row.data() >= begin && row.data() + row.size() <= begin + memory.size();
}

TEST(PaddedRows, RecordsOneBehindAnotherStayWhereTheyAreButForTheLast) {
  // 40 records of 10 bytes: 64 readable bytes follow all but the last 7.
  std::string memory;
  std::vector<std::string> records;
  for (int i = 0; i < 40; ++i) memory += records.emplace_back(std::to_string(1000000000 + i));
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < 40; ++i) views.push_back(std::string_view(memory).substr(i * 10, 10));
  BufferPool pool;
  const auto padded = pad_rows(views, pool, 1);
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ(texts_of(*padded), records);
  EXPECT_EQ(padded->copied, 7);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(lies_in(padded->rows[i], memory), i < 33) << i;
}

TEST(PaddedRows, AnEmptyRecordDoesNotEndARun) {
  const std::string memory(200, 'x');
  const std::string_view all = memory;
  const std::string_view views[] = {all.substr(0, 10), all.substr(10, 0), std::string_view(), all.substr(10, 190)};
  BufferPool pool;
  const auto padded = pad_rows(views, pool, 1);
  ASSERT_TRUE(padded.ok());
  EXPECT_TRUE(lies_in(padded->rows[0], memory));
  EXPECT_EQ(padded->rows[1].size(), 0U);
  EXPECT_EQ(padded->rows[2].size(), 0U);
  EXPECT_FALSE(lies_in(padded->rows[3], memory));
  EXPECT_EQ(padded->copied, 3);
}

TEST(PaddedRows, OtherRecordsAreCopiedOnAnyNumberOfThreads) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < 1000; ++i) records.push_back(std::string(i % 7, 'a') + std::to_string(i));
  const std::vector<std::string_view> views(records.rbegin(), records.rend());
  for (const int threads : {1, 3}) {
    BufferPool pool;
    const auto padded = pad_rows(views, pool, threads);
    ASSERT_TRUE(padded.ok());
    EXPECT_EQ(texts_of(*padded), std::vector<std::string>(views.begin(), views.end()));
    for (const RecordBytes& row : padded->rows) {
      EXPECT_EQ(std::string(kRecordPadding, '\0'),
                std::string(reinterpret_cast<const char*>(row.data() + row.size()), kRecordPadding));
    }
  }
}

TEST(PaddingLoader, LoadsWhatDoesNotStayWhereItIs) {
  const std::string memory(300, 'm');
  const std::string_view all = memory;
  const std::string_view views[] = {all.substr(0, 100), all.substr(100, 200), std::string_view(), "abc"};
  const std::vector<RecordBytes> rows = rows_in_place(views);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(lies_in(rows[0], memory));
  PaddingLoader loader(views);
  RowMemory reused;
  std::uint8_t* part = loader.room(3);
  std::memcpy(part, "abc", 3);
  EXPECT_NE(loader.room(1000), part);
  EXPECT_EQ(std::memcmp(part, "abc", 3), 0);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(rows[i].data(), nullptr);
    EXPECT_EQ(rows[i].size(), views[i].size());
    const Result<RecordBytes> kept = loader.load_and_keep(i);
    ASSERT_TRUE(kept.ok());
    const Result<RecordBytes> row = loader.load(i, &reused);
    ASSERT_TRUE(row.ok());
    for (const RecordBytes& loaded : {*row, *kept}) {
      EXPECT_EQ(std::string(loaded.begin(), loaded.end()), views[i]);
      EXPECT_EQ(std::string(kRecordPadding, '\0'),
                std::string(reinterpret_cast<const char*>(loaded.data() + loaded.size()), kRecordPadding));
    }
  }
}

}  // namespace
}  // namespace headrace

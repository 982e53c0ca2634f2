// Where the feature lists of a SequenceExample and its context are found, and the steps of a list.
#include "example/sequence_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "example/list_decoder.h"
#include "example/wire_test_bytes.h"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string step(std::string_view feature) { return bytes_field(1, feature); }
std::string int_feature(std::uint64_t value) { return int64_feature({value}); }

class SequenceReaderTest : public ::testing::Test {
 protected:
  Status read(const std::string& record) {
    memory_.emplace(record);
    return reader_.read(memory_->bytes(), &context_, lists_);
  }
  std::string context() const { return {reinterpret_cast<const char*>(context_.data()), context_.size()}; }
  /// The first value of each step; -1 for a step without one, then -9 when the list is malformed.
  std::vector<std::int64_t> steps_of(std::size_t key) {
    StepScratch scratch;
    StepReader reader(lists_[key], &scratch);
    std::vector<std::int64_t> values;
    for (FeatureView view; reader.next(&view);) {
      std::int64_t value = -1;
      if (view.kind == ListKind::kInt64) (void)decode_int64_list(view, &value, 1);
      values.push_back(value);
    }
    if (reader.malformed()) values.push_back(-9);
    return values;
  }

  SequenceReader reader_{std::make_shared<const KeySet>(std::vector<std::string>{"a", "b"})};
  std::optional<Padded> memory_;
  SequenceReader::Bytes context_;
  std::vector<FeatureListView> lists_{2};
};

TEST_F(SequenceReaderTest, TheUsualForm) {
  const std::string features = bytes_field(1, entry("x", int_feature(1)));
  const std::string lists = entry("b", step(int_feature(5)) + step(int64_feature({6, 7}))) + entry("c", "?");
  ASSERT_TRUE(read(features + bytes_field(2, lists)).ok());
  EXPECT_EQ(context(), features);
  EXPECT_EQ(lists_[0].data, nullptr);
  EXPECT_THAT(steps_of(1), ElementsAre(5, 6));
}

TEST_F(SequenceReaderTest, WhatMayBeAbsent) {
  for (const std::string& record : {std::string(), bytes_field(1, ""), bytes_field(2, "")}) {
    ASSERT_TRUE(read(record).ok());
    EXPECT_EQ(lists_[0].data, nullptr);
  }
  ASSERT_TRUE(read(bytes_field(2, entry("a", ""))).ok());
  EXPECT_TRUE(context().empty());
  EXPECT_NE(lists_[0].data, nullptr);  // a list of no steps is there
  EXPECT_THAT(steps_of(0), IsEmpty());
}

TEST_F(SequenceReaderTest, TheLastListOfAKeyCounts) {
  const std::string one = entry("a", step(int_feature(1)));
  const std::string two = entry("a", step(int_feature(2)));
  ASSERT_TRUE(read(bytes_field(2, one + two)).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(2));
  ASSERT_TRUE(read(bytes_field(2, one) + bytes_field(2, two)).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(2));
}

TEST_F(SequenceReaderTest, EveryLegalForm) {
  const std::string value = step(int_feature(1));
  const std::string group = group_field(3, varint_field(1, 1));
  const std::string unknown = varint_field(9, 1);
  const std::string records[] = {
      bytes_field(2, entry("a", value)) + bytes_field(1, entry("x", int_feature(1))),  // context last
      group + unknown + bytes_field(2, entry("a", value)),                             // beside
      bytes_field(2, unknown + entry("a", value)),                                     // in the map
      bytes_field(2, bytes_field(1, bytes_field(2, value) + bytes_field(1, "a"))),     // value first
      bytes_field(2, bytes_field(1, unknown + bytes_field(1, "a") + bytes_field(2, value))),
      bytes_field(2, entry("a", unknown + value)),                 // in the list
      bytes_field(2, entry("a", step(unknown + int_feature(1)))),  // in the step
  };
  for (const std::string& record : records) {
    ASSERT_TRUE(read(record).ok());
    EXPECT_THAT(steps_of(0), ElementsAre(1));
  }
  ASSERT_TRUE(read(bytes_field(2, bytes_field(1, bytes_field(1, "a")))).ok());  // a key without a value
  EXPECT_NE(lists_[0].data, nullptr);
  EXPECT_THAT(steps_of(0), IsEmpty());
}

TEST_F(SequenceReaderTest, PiecesOfOneListAreJoined) {
  const std::string first = bytes_field(2, step(int_feature(1)));
  const std::string second = bytes_field(2, step(int_feature(2)) + step(""));
  ASSERT_TRUE(read(bytes_field(2, bytes_field(1, bytes_field(1, "a") + first + second))).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(1, 2, -1));
  const std::vector<MergedList> kept = reader_.take_merged();
  const FeatureListView joined = lists_[0];
  ASSERT_TRUE(read(bytes_field(2, bytes_field(1, bytes_field(1, "b") + second + second))).ok());
  lists_[0] = joined;  // lives as long as what was taken
  EXPECT_THAT(steps_of(0), ElementsAre(1, 2, -1));
  EXPECT_THAT(steps_of(1), ElementsAre(2, -1, 2, -1));
}

TEST_F(SequenceReaderTest, APieceOfAListIsAMessageOfItsOwn) {
  const std::string whole = step(int_feature(1)) + step(int_feature(2));
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    const std::string pieces = bytes_field(2, whole.substr(0, at)) + bytes_field(2, whole.substr(at));
    const Status status = read(bytes_field(2, bytes_field(1, bytes_field(1, "a") + pieces)));
    EXPECT_EQ(status.ok(), at % (whole.size() / 2) == 0) << at;
    if (status.ok()) {
      EXPECT_THAT(steps_of(0), ElementsAre(1, 2));
    } else {
      EXPECT_THAT(status.message(), ::testing::StartsWith("Invalid protocol message input: "));
      EXPECT_EQ(status.where().key, "a");
    }
  }
}

TEST_F(SequenceReaderTest, AStepInPieces) {
  const std::string two_lists = int64_feature({}) + int_feature(3);
  const std::string two_kinds = int_feature(3) + bytes_field(2, "");
  ASSERT_TRUE(read(bytes_field(2, entry("a", step(two_lists) + step(two_kinds) + step(int_feature(4))))).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(3, -1, 4));
  const std::string cut = bytes_field(3, "\x0A\x02\x01") + bytes_field(3, "\x02");
  ASSERT_TRUE(read(bytes_field(2, entry("a", step(int_feature(4)) + step(cut)))).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(4, -9));
}

TEST_F(SequenceReaderTest, MalformedRecords) {
  const std::string damaged[] = {
      "\x0A",
      "\x12\x05",
      "hello, this is text",
      bytes_field(2, "\x0A\x05"),
      bytes_field(2, bytes_field(1, "\x0A\x05")),
      bytes_field(2, entry("a", "")) + "\x07",
  };
  for (const std::string& record : damaged) {
    const Status status = read(record);
    EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
    EXPECT_THAT(status.message(), ::testing::StartsWith("Invalid protocol message input"));
  }
  EXPECT_THAT(read("hello, this is text").message(), ::testing::HasSubstr("looks like text"));
}

TEST_F(SequenceReaderTest, MalformedListsFailWhenTheyAreWalked) {
  ASSERT_TRUE(read(bytes_field(2, entry("a", step(int_feature(1)) + "\x0A\x09") + entry("b", step("\x1A\x05")))).ok());
  EXPECT_THAT(steps_of(0), ElementsAre(1, -9));
  EXPECT_THAT(steps_of(1), ElementsAre(-9));
}

TEST_F(SequenceReaderTest, ListsItsKeys) {
  const std::string record =
      bytes_field(1, entry("x", int_feature(1))) + bytes_field(2, entry("a", "") + entry("b", ""));
  const SequenceReader::Bytes bytes(reinterpret_cast<const std::uint8_t*>(record.data()), record.size());
  EXPECT_THAT(SequenceReader::list_keys(bytes, 9), ElementsAre("a", "b"));
  EXPECT_THAT(SequenceReader::list_keys(bytes, 1), ElementsAre("a"));
}

}  // namespace
}  // namespace headrace::test

#include "example/example_reader.h"

#include <gtest/gtest.h>

#include "example/list_decoder.h"
#include "example/wire_test_bytes.h"

namespace headrace {
namespace {

using namespace test;

// Reads one record for the keys "a", "b" and "" and says what was found, as text.
class Reading {
 public:
  explicit Reading(std::string_view record) : record_(record), reader_(std::make_shared<KeySet>(keys_)) {
    status_ = reader_.read(record_.bytes(), views_);
  }

  /// "absent", "bytes 2", "float 1" or the values of an int64 list: "[1, 2]".
  std::string at(std::size_t index) const {
    if (!status_.ok()) return "failed";
    const FeatureView& view = views_[index];
    std::int64_t ignored = 0;
    switch (view.kind) {
      case ListKind::kAbsent:
        return "absent";
      case ListKind::kBytes:
        return "bytes " + std::to_string(count_bytes_list(view, &ignored));
      case ListKind::kFloat:
        return "float " + std::to_string(count_float_list(view));
      case ListKind::kInt64:
        break;
    }
    std::vector<std::int64_t> values(64);
    const std::int64_t count = decode_int64_list(view, values.data(), 64);
    std::string out = "[";
    for (std::int64_t i = 0; i < count; ++i) {
      out += (i == 0 ? "" : ", ") + std::to_string(values[static_cast<std::size_t>(i)]);
    }
    return out + "]";
  }
  std::string a() const { return at(0); }
  std::string b() const { return at(1); }
  std::string empty_key() const { return at(2); }
  const Status& status() const { return status_; }
  bool saw_feature_lists() const { return reader_.saw_feature_lists(); }

 private:
  const std::vector<std::string> keys_ = {"a", "b", ""};
  Padded record_;
  ExampleReader reader_;
  std::vector<FeatureView> views_ = std::vector<FeatureView>(3);
  Status status_;
};

const std::string kOne = entry("a", int64_feature({1}));
const std::string kTwo = entry("b", int64_feature({2, 300}));
const std::string kKeyA = bytes_field(1, "a");

TEST(ExampleReader, ReadsTheUsualForm) {
  const Reading r(example(kOne + entry("x", "\xFF\xFF") + kTwo));
  EXPECT_EQ(r.a(), "[1]");
  EXPECT_EQ(r.b(), "[2, 300]");
  EXPECT_EQ(r.empty_key(), "absent");
  EXPECT_FALSE(r.saw_feature_lists());
}

TEST(ExampleReader, ReadsLongListsAndKeys) {
  const std::string value(1000, 'v');
  const std::string feature = bytes_field(1, bytes_field(1, value) + bytes_field(1, value));
  const Reading r(example(entry(std::string(200, 'k'), feature) + entry("a", feature) + kTwo));
  EXPECT_EQ(r.a(), "bytes 2");
  EXPECT_EQ(r.b(), "[2, 300]");
}

TEST(ExampleReader, NothingInARecordIsAnExampleWithoutFeatures) {
  EXPECT_EQ(Reading("").a(), "absent");
  EXPECT_EQ(Reading(example("")).a(), "absent");
}

TEST(ExampleReader, AnEmptyListIsNotAMissingOne) {
  EXPECT_EQ(Reading(example(entry("a", bytes_field(3, "")))).a(), "[]");
  EXPECT_EQ(Reading(example(entry("a", bytes_field(3, bytes_field(1, ""))))).a(), "[]");
  EXPECT_EQ(Reading(example(entry("a", bytes_field(2, "")))).a(), "float 0");
  EXPECT_EQ(Reading(example(entry("a", ""))).a(), "absent");
}

TEST(ExampleReader, TheLastEntryOfAKeyCounts) {
  EXPECT_EQ(Reading(example(kOne + kTwo + entry("a", int64_feature({7})))).a(), "[7]");
  EXPECT_EQ(Reading(example(kOne + entry("a", bytes_field(2, "")))).a(), "float 0");
  EXPECT_EQ(Reading(example(kOne + entry("a", ""))).a(), "absent");
  EXPECT_EQ(Reading(example(entry("a", "\xFF") + kOne)).a(), "[1]");
  EXPECT_EQ(Reading(example(kOne + kTwo) + example(entry("a", int64_feature({8})))).a(), "[8]");
}

TEST(ExampleReader, UnknownFieldsAreSkipped) {
  const std::string unknown = varint_field(5, 1) + fixed32_field(6, 1) + fixed64_field(7, 1) + bytes_field(9, "xyz") +
                              group_field(8, varint_field(1, 1) + group_field(3, ""));
  EXPECT_EQ(Reading(unknown + example(kOne) + unknown).a(), "[1]");
  EXPECT_EQ(Reading(example(unknown + kOne + unknown)).a(), "[1]");
  EXPECT_EQ(Reading(example(bytes_field(1, unknown + kKeyA + unknown + bytes_field(2, int64_feature({4}))))).a(),
            "[4]");
  EXPECT_EQ(Reading(example(entry("a", unknown + int64_feature({5}) + unknown))).a(), "[5]");
  EXPECT_EQ(Reading(varint_field(1, 3) + example(kOne)).a(), "[1]");
}

TEST(ExampleReader, GroupsMayBeNestedAHundredDeep) {
  std::string group;
  for (int i = 0; i < 100; ++i) group = group_field(9, group);
  EXPECT_EQ(Reading(group + example(kOne)).a(), "[1]");
  EXPECT_FALSE(Reading(group_field(9, group) + example(kOne)).status().ok());
}

TEST(ExampleReader, EntriesMayLackOrRepeatParts) {
  const std::string value = bytes_field(2, int64_feature({6}));
  EXPECT_EQ(Reading(example(bytes_field(1, value + kKeyA))).a(), "[6]");
  EXPECT_EQ(Reading(example(bytes_field(1, value))).empty_key(), "[6]");
  EXPECT_EQ(Reading(example(bytes_field(1, kKeyA))).a(), "absent");
  EXPECT_EQ(Reading(example(bytes_field(1, bytes_field(1, "b") + kKeyA + value))).a(), "[6]");
  EXPECT_EQ(Reading(example(bytes_field(1, bytes_field(1, "b") + kKeyA + value))).b(), "absent");
  EXPECT_EQ(Reading(example(kOne + bytes_field(1, ""))).empty_key(), "absent");
  EXPECT_EQ(Reading(example(bytes_field(1, kKeyA + value + bytes_field(2, int64_feature({9}))))).a(), "[6, 9]");
}

TEST(ExampleReader, ListsOfOneKindAreMergedOfTheLastKindKept) {
  EXPECT_EQ(Reading(example(entry("a", int64_feature({1, 2}) + int64_feature({3})))).a(), "[1, 2, 3]");
  EXPECT_EQ(Reading(example(entry("a", int64_feature({1}) + bytes_field(2, "")))).a(), "float 0");
  EXPECT_EQ(Reading(example(entry("a", int64_feature({1}) + bytes_field(2, "") + int64_feature({4})))).a(), "[4]");
}

// Of the lists in one Feature protobuf reads each by itself, those too that do not count.
TEST(ExampleReader, EachOfSeveralListsIsAMessageOfItsOwn) {
  const std::string cut = bytes_field(3, std::string("\x0A\x02\x01", 3));
  const std::string rest = bytes_field(3, "\x02");
  const std::string cut_varint = bytes_field(3, bytes_field(1, "\xFF"));
  const std::string cut_float = bytes_field(2, bytes_field(1, "12345"));
  const std::string two_pieces = bytes_field(1, bytes_field(1, "a") + bytes_field(2, cut) + bytes_field(2, rest));
  for (const std::string& record :
       {example(entry("a", cut + rest)), example(two_pieces), example(entry("a", int64_feature({1}) + rest)),
        example(entry("a", cut + bytes_field(2, ""))), example(entry("a", cut_varint + bytes_field(1, ""))),
        example(entry("a", cut_float + int64_feature({1}))),
        example(entry("a", int64_feature({1}) + cut_float + int64_feature({1})))}) {
    const Status status = Reading(record).status();
    EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
    EXPECT_EQ(status.where().key, "a");
  }
  const std::string skipped =
      bytes_field(3, varint_field(9, 1) + fixed32_field(1, 1)) + bytes_field(2, fixed64_field(1, 1));
  EXPECT_EQ(Reading(example(entry("a", skipped + int64_feature({4})))).a(), "[4]");
}

TEST(ExampleReader, LongVarintsAreReadAsProtobufReadsThem) {
  EXPECT_EQ(Reading(std::string("\x8A\x00", 2) + varint(kOne.size()) + kOne).a(), "[1]");
  EXPECT_EQ(
      Reading(std::string("\x0A", 1) + static_cast<char>(kOne.size() | 0x80) + std::string("\x80\x00", 2) + kOne).a(),
      "[1]");
}

TEST(ExampleReader, MalformedRecordsFailWithoutShowingTheirBytes) {
  const std::string whole = example(kOne + kTwo);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(Reading(std::string_view(whole).substr(0, size)).status().ok()) << size;
  }
  for (const std::string& record :
       {whole + std::string(1, '\0'), whole + "\x0C", whole + "\x0B", whole + "\x0F", std::string("{\"json\": true}"),
        example(bytes_field(1, varint(0x0A) + varint(200) + "a")), varint(0x0A) + varint(std::uint64_t{1} << 63) + "x",
        example(kOne + std::string("\x0A\x7F", 2))}) {
    const Status status = Reading(record).status();
    EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
    EXPECT_NE(status.message().find("Could not parse example input"), std::string::npos) << status.message();
    EXPECT_LT(status.message().size(), 200U);
    EXPECT_EQ(status.where().key, "");
  }
  EXPECT_NE(Reading("{\"json\": true}").status().message().find("looks like text"), std::string::npos);
}

TEST(ExampleReader, OnlyAWantedFeatureCanBeMalformed) {
  const std::string too_long = std::string("\x1A\x10\x0A\x01\x01", 5);
  EXPECT_EQ(Reading(example(entry("x", too_long) + kOne)).a(), "[1]");
  const Status status = Reading(example(kOne + entry("b", too_long))).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().key, "b");
  EXPECT_NE(status.message().find("Can't parse serialized Example"), std::string::npos);
}

TEST(ExampleReader, SeesASequenceExample) {
  const Reading r(example(kOne) + bytes_field(2, bytes_field(1, "")));
  EXPECT_EQ(r.a(), "[1]");
  EXPECT_TRUE(r.saw_feature_lists());
}

TEST(ExampleReader, OneReaderReadsRecordsOfDifferentForms) {
  const auto keys = std::make_shared<KeySet>(std::vector<std::string>{"a", "b"});
  ExampleReader reader(keys);
  std::vector<FeatureView> views(2);
  const Padded records[] = {Padded(example(kOne + kTwo)), Padded(example(kTwo + varint_field(7, 1) + kOne)),
                            Padded("garbage"), Padded(example(kTwo)), Padded(example(kTwo + kOne))};
  const bool good[] = {true, true, false, true, true};
  const bool has_a[] = {true, true, false, false, true};
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < std::size(records); ++i) {
      ASSERT_EQ(reader.read(records[i].bytes(), views).ok(), good[i]);
      if (!good[i]) continue;
      EXPECT_EQ(views[0].kind, has_a[i] ? ListKind::kInt64 : ListKind::kAbsent);
      EXPECT_EQ(count_int64_list(views[1]), 2);
    }
  }
}

TEST(ExampleReader, ListsTheKeysOfARecord) {
  const std::string record = example(kTwo + kOne + entry("x", "\xFF"));
  EXPECT_EQ(ExampleReader::list_keys(Padded(record).bytes(), 10), (std::vector<std::string>{"b", "a", "x"}));
  EXPECT_EQ(ExampleReader::list_keys(Padded(record).bytes(), 2), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(ExampleReader::list_keys(Padded(record + "\x0A").bytes(), 10).empty());
}

}  // namespace
}  // namespace headrace

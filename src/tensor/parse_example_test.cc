// parse_example() on the caller's bytes, and the parser that leaves records as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseExample, AnyNumberOfThreads) {
  const Schema schema{.features = {fixed("a", DType::kInt64), list_of(FeatureKind::kVarLen, "s", DType::kBytes)}};
  std::vector<std::string> records;
  for (int r = 0; r < 1000; ++r) records.push_back(ints("a", {r}) + strings("s", {std::to_string(r)}));
  const std::vector<std::string_view> views(records.begin(), records.end());
  for (const int threads : {1, 3, 100}) {
    const auto slice = parse_example(views, schema, threads);
    ASSERT_TRUE(slice.ok()) << slice.status().to_string();
    EXPECT_EQ(slice->rows, 1000);
    const auto a = values_of<std::int64_t>(slice->find("a")->values);
    const auto s = strings_of(*slice->find("s"));
    for (std::size_t r = 0; r < 1000; ++r) {
      ASSERT_EQ(a.at(r), static_cast<std::int64_t>(r));
      ASSERT_EQ(s.at(r), std::to_string(r));
    }
  }
}

TEST(ParseExample, DenseRowsOfAnySizeOnAnyNumberOfThreads) {
  for (const std::int64_t size : {1, 20'000}) {  // of the larger ones, each is a task
    const Schema schema{.features = {fixed("a", DType::kInt64, {size})}};
    std::vector<std::string> records;
    for (std::int64_t r = 0; r < 300; r += size == 1 ? 1 : 30) {
      const std::vector<std::int64_t> values(static_cast<std::size_t>(size), (1 << 30) + r);
      records.push_back(ExampleBuilder().add_int64("a", values).build());
    }
    for (const int threads : {1, 3}) {
      std::vector<std::string_view> views(records.rbegin(), records.rend());
      const auto slice = parse_example(views, schema, threads);
      ASSERT_TRUE(slice.ok()) << slice.status().to_string();
      const auto values = values_of<std::int64_t>(slice->find("a")->values);
      ASSERT_EQ(values.size(), records.size() * static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < records.size(); ++i) {
        const std::size_t step = size == 1 ? 1 : 30;
        ASSERT_EQ(values.at(i * static_cast<std::size_t>(size)),
                  static_cast<std::int64_t>((1 << 30) + (records.size() - 1 - i) * step));
      }
      views[3] = views[5] = "no record";
      EXPECT_EQ(parse_example(views, schema, threads).status().where().row, 3);
    }
  }
}

TEST(ParseExample, AThreadUsesTheMemoryOfABatchThatIsGoneAgain) {
  const Schema schema{.features = {fixed("a", DType::kInt64, {20'000})}};
  const std::vector<std::int64_t> values(20'000, 7);
  const std::string record = ExampleBuilder().add_int64("a", values).build();
  const std::string_view views[] = {record};
  const auto place = [&] { return parse_example(views, schema)->find("a")->values.data; };
  const std::uint8_t* first = place();
  EXPECT_EQ(place(), first);
  const auto held = parse_example(views, schema);
  EXPECT_NE(place(), held->find("a")->values.data);
}

TEST(ParseExample, AChildOfForkHasItsOwnMemory) {
  const Schema schema{.features = {fixed("a", DType::kInt64)}};
  const std::string record = ints("a", {7});
  const std::string_view views[] = {record};
  const auto before = parse_example(views, schema);
  const pid_t child = fork();
  if (child == 0) {
    const auto slice = parse_example(views, schema);
    _exit(slice.ok() && values_of<std::int64_t>(slice->find("a")->values).at(0) == 7 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ParseExample, BadArgumentsAndRecords) {
  const Schema schema{.features = {fixed("a", DType::kInt64)}};
  EXPECT_EQ(parse_example({}, schema, 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(parse_example({}, {.features = {}, .origin = true}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(parse_example({}, {.features = {fixed("a", DType::kInt8)}}).status().code(), StatusCode::kInvalidArgument);
  const std::string good = ints("a", {1});
  const std::string bad = ints("a", {1, 2});
  const std::string_view views[] = {good, good, bad};
  const Status status = parse_example(views, schema).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().row, 2);
}

TEST(ParseExample, NothingGivesNoRows) {
  const auto slice = parse_example({}, {.features = {fixed("a", DType::kInt64)}});
  ASSERT_TRUE(slice.ok());
  EXPECT_THAT(slice->find("a")->values.shape, ElementsAre(0));
}

TEST(ParseExample, RecordsOneBehindAnotherAreReadInPlace) {
  const Schema schema{.features = {fixed("a", DType::kInt64), list_of(FeatureKind::kVarLen, "s", DType::kBytes)}};
  std::vector<std::string> records;
  std::string memory;
  for (int r = 0; r < 100; ++r) memory += records.emplace_back(ints("a", {r}) + strings("s", {"x", "yz"}));
  std::vector<std::string_view> views;
  for (std::size_t r = 0, at = 0; r < 100; at += records[r++].size()) {
    views.push_back(std::string_view(memory).substr(at, records[r].size()));
  }
  const auto slice = parse_example(views, schema, 2);
  ASSERT_TRUE(slice.ok()) << slice.status().to_string();
  for (std::size_t r = 0; r < 100; ++r) {
    EXPECT_EQ(values_of<std::int64_t>(slice->find("a")->values).at(r), static_cast<std::int64_t>(r));
  }
  EXPECT_EQ(strings_of(*slice->find("s")).size(), 200U);
}

TEST(ParseSingleExample, HasNoBatchDimension) {
  Feature ragged = list_of(FeatureKind::kRagged, "r", DType::kInt64);
  ragged.key = "v";
  ragged.partitions = {{PartitionKind::kRowLengths, "n"}};
  Feature uniform = list_of(FeatureKind::kRagged, "u", DType::kInt64);
  uniform.key = "v";
  uniform.partitions = {{.kind = PartitionKind::kUniformRowLength, .row_length = 3}};
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("b", DType::kBytes, {2}),
                                   list_of(FeatureKind::kVarLen, "s", DType::kBytes), ragged, uniform,
                                   list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2})}};
  const std::string record = ints("a", {7}) + strings("b", {"x", "y"}) + strings("s", {"1", "2", "3"}) +
                             ints("v", {1, 2, 3}) + ints("n", {2, 0, 1}) + ints("q", {1, 2, 3, 4});
  const auto slice = parse_single_example(record, schema);
  ASSERT_TRUE(slice.ok()) << slice.status().to_string();
  EXPECT_THAT(slice->find("a")->values.shape, IsEmpty());
  EXPECT_THAT(values_of<std::int64_t>(slice->find("a")->values), ElementsAre(7));
  EXPECT_THAT(slice->find("b")->values.shape, ElementsAre(2));
  EXPECT_EQ(slice->find("s")->kind, ColumnKind::kDense);
  EXPECT_THAT(strings_of(*slice->find("s")), ElementsAre("1", "2", "3"));
  ASSERT_EQ(slice->find("r")->row_splits.size(), 1U);
  EXPECT_THAT(values_of<std::int64_t>(slice->find("r")->row_splits[0]), ElementsAre(0, 2, 2, 3));
  EXPECT_EQ(slice->find("u")->kind, ColumnKind::kDense);
  EXPECT_THAT(slice->find("u")->values.shape, ElementsAre(1, 3));
  EXPECT_THAT(slice->find("q")->values.shape, ElementsAre(2, 2));
}

TEST(ParseSingleExample, SparseIndicesAndStepsBegin) {
  Feature sparse = list_of(FeatureKind::kSparse, "v", DType::kInt64);
  sparse.indices = {{.key = "i", .size = 9}, {.key = "j", .size = 5}};
  const Schema schema{.features = {sparse, in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64)),
                                   in_list(list_of(FeatureKind::kVarLen, "s", DType::kBytes))},
                      .sequence = true};
  const std::string lists = list_entry("q", int_step({5}) + int_step({6})) +
                            list_entry("s", bytes_step({"a", "b"}) + bytes_step({}) + bytes_step({"c"}));
  const auto slice =
      parse_single_example(ints("v", {7, 8}) + ints("i", {3, 0}) + ints("j", {4, 2}) + feature_lists(lists), schema);
  ASSERT_TRUE(slice.ok()) << slice.status().to_string();
  EXPECT_THAT(slice->find("v")->dense_shape, ElementsAre(9, 5));
  EXPECT_THAT(slice->find("v")->indices.shape, ElementsAre(2, 2));
  EXPECT_THAT(values_of<std::int64_t>(slice->find("v")->indices), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(values_of<std::int64_t>(slice->find("v")->values), ElementsAre(8, 7));
  EXPECT_THAT(slice->find("q")->values.shape, ElementsAre(2));
  ASSERT_EQ(slice->find("s")->row_splits.size(), 1U);
  EXPECT_THAT(splits_of(*slice->find("s")), ElementsAre(0, 2, 2, 3));
}

TEST(ParseSingleExample, FailuresNameTheKeyAndNoRow) {
  const Status status = parse_single_example("", {.features = {fixed("a", DType::kInt64)}}).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().key, "a");
  EXPECT_EQ(status.where().row, -1);
}

TEST(RecordsParser, RecordsAreOneBytesColumn) {
  const std::unique_ptr<BatchParser> parser = make_records_parser(std::make_shared<BufferPool>());
  const auto slices = run_parser(*parser, {"one", "", "three"}, {2, 1, 0});
  ASSERT_TRUE(slices.ok());
  ASSERT_EQ(slices->size(), 3U);
  EXPECT_EQ(slices->at(0).columns.at(0).name, "");
  EXPECT_THAT(strings_of(slices->at(0).columns.at(0)), ElementsAre("one", ""));
  EXPECT_THAT(strings_of(slices->at(1).columns.at(0)), ElementsAre("three"));
  EXPECT_THAT(strings_of(slices->at(2).columns.at(0)), IsEmpty());
  EXPECT_THAT(values_of<std::int64_t>(slices->at(0).columns.at(0).byte_offsets), ElementsAre(0, 3, 3));
  EXPECT_EQ(run_parser(*parser, {"one"}, {2}).status().code(), StatusCode::kInvalidArgument);
}

TEST(RecordsParser, SeveralTasks) {
  const std::unique_ptr<BatchParser> parser = make_records_parser(std::make_shared<BufferPool>());
  std::vector<std::string> records;
  for (int r = 0; r < 300; ++r)
    records.push_back(std::string(static_cast<std::size_t>(r % 5), 'r') + std::to_string(r));
  const auto slices = run_parser(*parser, records, {150, 150}, 64);
  ASSERT_TRUE(slices.ok());
  std::vector<std::string> found;
  for (const Slice& slice : *slices) {
    for (std::string& text : strings_of(slice.columns.at(0))) found.push_back(std::move(text));
  }
  EXPECT_EQ(found, records);
}

TEST(BytesColumn, BeyondFourGibibytesIsAFailureNamingTheFeature) {
  // Padding makes it: 2^22 steps in one row, 256 rows, 24 bytes of header each.
  Feature sequence = list_of(FeatureKind::kFixedLenSequence, "q", DType::kBytes);
  std::string list;
  for (int i = 0; i < 1 << 20; ++i) list += std::string("\x0A\x00", 2);
  std::vector<std::string> records(256);
  records[3] = feature("q", ListKind::kBytes, list);
  const Status status = parse({.features = {sequence}}, records, {256}).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.where().key, "q");
  EXPECT_THAT(status.message(), ::testing::HasSubstr("268435456 strings"));
}

}  // namespace
}  // namespace headrace::testing

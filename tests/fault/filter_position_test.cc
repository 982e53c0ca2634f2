// A filter that meets a record which it cannot compare: the position of every batch that was delivered, a partial one too, leads
// to the same rest of the stream and the same failure.
#include <gtest/gtest.h>

#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using Batches = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t kBad = 53;

// 100 records in two shards; one of them has no "id".
std::vector<std::string> write_one_bad(const TemporaryFolder& folder) {
  std::vector<std::string> records;
  for (std::int64_t id = 0; id < 100; ++id) {
    const std::int64_t other = 7;
    records.push_back(id == kBad ? ExampleBuilder().add_int64("other", {&other, 1}).build() : example(id));
  }
  const std::vector<std::string> paths = {folder.file("a"), folder.file("b")};
  write_records(paths[0], {records.begin(), records.begin() + 30});
  write_records(paths[1], {records.begin() + 30, records.end()});
  return paths;
}

Filter at_least_five() {
  return {{{.key = "id", .comparison = Comparison::kGreaterEqual, .operands = std::vector<std::int64_t>{5}}},
          {FilterStep::kTerm}};
}

void check_every_position(const Dataset& dataset, std::size_t least_batches) {
  const Delivered all = drain(dataset);
  ASSERT_EQ(all.end.code(), StatusCode::kSchemaMismatch) << all.end.to_string();
  ASSERT_GE(all.batches.size(), least_batches);
  for (std::size_t taken = 1; taken <= all.batches.size(); ++taken) {
    Result<Pipeline> running = dataset.open();
    ASSERT_TRUE(running.ok());
    drain(*running, taken);
    const Result<Position> position = running->position();
    ASSERT_TRUE(position.ok());
    Result<Pipeline> resumed = dataset.open(*position);
    ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
    const Delivered rest = drain(*resumed);
    EXPECT_EQ(rest.batches, Batches(all.batches.begin() + static_cast<std::ptrdiff_t>(taken), all.batches.end()));
    EXPECT_EQ(rest.end.to_string(), all.end.to_string()) << "behind batch " << taken;
    // Once more from where that one stands.
    if (rest.batches.empty()) {
      Result<Pipeline> again = dataset.open(*resumed->position());
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(drain(*again).end.to_string(), all.end.to_string());
    }
  }
}

TEST(FilterPosition, LeadsToTheFailureAgain) {
  const TemporaryFolder folder;
  const Files files{write_one_bad(folder), true};
  for (const std::int64_t size : {1, 7, 48, 60}) {
    const Dataset dataset = TFRecordDataset(files).filter(at_least_five()).batch({.size = size}).parse(id_schema());
    check_every_position(dataset, static_cast<std::size_t>((kBad - 5 + size - 1) / size));
    EXPECT_EQ(drain(dataset).flat(), range(5, kBad));
  }
}

TEST(FilterPosition, BehindAndBeforeAShuffle) {
  const TemporaryFolder folder;
  const Files files{write_one_bad(folder), true};
  const ShuffleOptions shuffle{.buffer_size = 20, .seed = 4, .reshuffle_each_iteration = false};
  const ReadOptions one_thread{.num_threads = 1};
  check_every_position(
      TFRecordDataset(files, one_thread).filter(at_least_five()).shuffle(shuffle).batch({.size = 7}).parse(id_schema()),
      7);
  check_every_position(
      TFRecordDataset(files, one_thread).shuffle(shuffle).filter(at_least_five()).batch({.size = 7}).parse(id_schema()),
      3);
}

TEST(FilterPosition, ALimitOfTheSkipPolicyIsMetAgain) {
  const TemporaryFolder folder;
  const Files files{write_one_bad(folder), true};
  const ReadOptions options{.on_mismatch = OnMismatch::kSkip, .max_skipped = 0, .num_threads = 1};
  check_every_position(TFRecordDataset(files, options).filter(at_least_five()).batch({.size = 7}).parse(id_schema()),
                       7);
}

}  // namespace
}  // namespace headrace

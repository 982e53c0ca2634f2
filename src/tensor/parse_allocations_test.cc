// In steady state a batch costs a few heap allocations, a record none.
#include <gtest/gtest.h>

#include <memory>

#include "headrace/example.h"
#include "support/allocation_count.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

std::int64_t allocations_of_one_batch(BatchParser& parser, const std::vector<RecordBytes>& rows) {
  ParseInput input{.rows = rows, .replica_rows = {static_cast<std::int64_t>(rows.size())}, .origins = {}};
  const std::int64_t before = allocation_count();
  const std::unique_ptr<ParseJob> job = parser.begin(std::move(input), static_cast<std::int64_t>(rows.size()) / 4);
  do {
    for (int task = 0; task < job->tasks(); ++task) job->run(task);
  } while (job->finish_phase());
  EXPECT_TRUE(job->take().ok());
  return allocation_count() - before;
}

void expect_few_allocations(const Schema& schema, std::string record) {
  ASSERT_TRUE(schema.validate().ok());
  const std::size_t size = record.size();
  record.append(kRecordPadding, '\0');
  const RecordBytes row(reinterpret_cast<const std::uint8_t*>(record.data()), size);
  const std::vector<RecordBytes> small(256, row);
  const std::vector<RecordBytes> large(4096, row);

  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, std::make_shared<BufferPool>());
  for (int warm = 0; warm < 3; ++warm) {
    (void)allocations_of_one_batch(*parser, small);
    (void)allocations_of_one_batch(*parser, large);
  }
  const std::int64_t of_small = allocations_of_one_batch(*parser, small);
  // Larger columns leave the shared buffer for one of their own: a handful more, not thousands.
  EXPECT_LE(allocations_of_one_batch(*parser, large), of_small + 16);
  EXPECT_LE(of_small, 100);
}

TEST(ParseAllocations, AFewPerBatchNonePerRecord) {
  const Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kFloat32, {2, 2});
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("x", DType::kFloat32),
                                   with_default<std::int64_t>(fixed("d", DType::kInt64), {1}), tensor,
                                   fixed("s", DType::kBytes), list_of(FeatureKind::kVarLen, "n", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "m", DType::kBytes),
                                   list_of(FeatureKind::kFixedLenSequence, "q", DType::kFloat32)}};
  const std::vector<std::uint8_t> content(16);
  std::string record = ints("a", {300}) + floats("x", {1}) + strings("s", {"text"}) + ints("n", {1, 2, 3}) +
                       strings("m", {"a", "bc"}) + floats("q", {1, 2}) +
                       strings("t", {*make_tensor_proto(DType::kFloat32, {2, 2}, content)});
  expect_few_allocations(schema, std::move(record));
}

TEST(ParseAllocations, NonePerRecordThatIsTransformed) {
  Feature staged = fixed("staged", DType::kInt64);
  staged.key = "a";
  staged.transforms = {Mod{7}, Cast{DType::kUint8}};
  Feature hashed = fixed("hashed", DType::kBytes);
  hashed.key = "s";
  hashed.transforms = {HashBucket{100}};
  Feature narrow = list_of(FeatureKind::kVarLen, "narrow", DType::kInt64);
  narrow.key = "n";
  narrow.transforms = {Cast{DType::kInt16}, Pad{2}};
  expect_few_allocations({.features = {staged, hashed, narrow}},
                         ints("a", {300}) + strings("s", {"text"}) + ints("n", {1, 2, 3}));
}

TEST(ParseAllocations, SequencesAndSparseFeaturesNeitherPerStepNorPerRecord) {
  Feature sparse = list_of(FeatureKind::kSparse, "v", DType::kBytes);
  sparse.indices = {{.key = "i", .size = 9}};
  Feature ragged = in_list(list_of(FeatureKind::kRagged, "r", DType::kInt64));
  ragged.partitions = {{.kind = PartitionKind::kRowLengths, .key = "p"}};
  const Schema schema{.features = {sparse, in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kFloat32, {2})),
                                   in_list(list_of(FeatureKind::kVarLen, "s", DType::kBytes)), ragged},
                      .sequence = true};
  const std::string context =
      list_entry("v", field(1, bytes_list({"b", "a"}))) + list_entry("i", field(3, int_list({8, 1})));
  const std::string lists = list_entry("q", float_step({1, 2}) + float_step({3, 4})) +
                            list_entry("s", bytes_step({"a", "bc"}) + bytes_step({"d"})) +
                            list_entry("r", int_step({1, 2, 3}) + int_step({4})) +
                            list_entry("p", int_step({1, 2}) + int_step({1}));
  expect_few_allocations(schema, field(1, context) + feature_lists(lists));
}

}  // namespace
}  // namespace headrace::testing

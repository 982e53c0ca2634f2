// Rows that are read when they are parsed, one after another into the same memory: what must outlive a row does.
#include <gtest/gtest.h>

#include <deque>

#include "tensor/bytes_column.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

class OneByOne : public RowLoader {
 public:
  explicit OneByOne(std::vector<std::string> records) : records_(std::move(records)) {}
  Result<RecordBytes> load(std::size_t row, RowMemory* memory) override {
    memory->assign(records_[row].begin(), records_[row].end());
    memory->resize(records_[row].size() + kRecordPadding);
    return RecordBytes(memory->data(), records_[row].size());
  }
  Result<RecordBytes> load_and_keep(std::size_t row) override { return load(row, &kept_.emplace_back()); }
  std::uint8_t* room(std::size_t bytes) override { return kept_.emplace_back(bytes).data(); }

 private:
  const std::vector<std::string> records_;
  std::deque<RowMemory> kept_;
};

// As run_parser(), every row late.
Result<std::vector<Slice>> parse_late(const Schema& schema, const std::vector<std::string>& records,
                                      std::vector<std::int64_t> replica_rows, std::int64_t rows_per_task) {
  OneByOne loader(records);
  ParseInput input{.rows = {}, .loader = &loader, .replica_rows = std::move(replica_rows)};
  for (const std::string& record : records) {
    input.rows.emplace_back(static_cast<const std::uint8_t*>(nullptr), record.size());
  }
  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, std::make_shared<BufferPool>());
  const std::unique_ptr<ParseJob> job = parser->begin(std::move(input), rows_per_task);
  do {
    for (int task = job->tasks(); task-- > 0;) job->run(task);
  } while (job->finish_phase());
  return job->take();
}

std::string bytes_of(const Tensor& tensor) {
  if (tensor.data == nullptr) return {};
  const std::size_t bytes =
      tensor.dtype == DType::kBytes ? static_cast<std::size_t>(tensor.elements()) * kStringHeaderBytes : tensor.bytes();
  return {reinterpret_cast<const char*>(tensor.data), bytes};
}

// Everything that a column has, headers and payload of strings included.
void expect_same(const Column& late, const Column& early) {
  EXPECT_EQ(late.values.shape, early.values.shape) << late.name;
  EXPECT_EQ(bytes_of(late.values), bytes_of(early.values)) << late.name;
  EXPECT_EQ(bytes_of(late.byte_offsets), bytes_of(early.byte_offsets)) << late.name;
  EXPECT_EQ(bytes_of(late.indices), bytes_of(early.indices)) << late.name;
  ASSERT_EQ(late.row_splits.size(), early.row_splits.size()) << late.name;
  for (std::size_t i = 0; i < late.row_splits.size(); ++i) EXPECT_EQ(splits_of(late, i), splits_of(early, i));
  if (late.values.dtype != DType::kBytes) return;
  for (std::int64_t i = 0; i < late.values.elements(); ++i) ASSERT_EQ(late.bytes_at(i), early.bytes_at(i)) << i;
}

Feature named(Feature feature, std::string name, std::string key) {
  feature.name = std::move(name);
  feature.key = std::move(key);
  return feature;
}

// One column of each kind whose values are written when the batch is complete.
Schema every_variable_kind() {
  Feature ragged = named(list_of(FeatureKind::kRagged, "", DType::kFloat32), "ragged", "v");
  ragged.partitions = {{.kind = PartitionKind::kRowLengths, .key = "p"}};
  Feature sparse = named(list_of(FeatureKind::kSparse, "", DType::kFloat32), "sparse", "v");
  sparse.indices = {{"i", 100}};
  Feature padded = named(list_of(FeatureKind::kFixedLenSequence, "", DType::kInt64), "padded", "i");
  padded.allow_missing = true;
  Feature tensor = named({.kind = FeatureKind::kTensor, .dtype = DType::kBytes, .shape = {2}}, "tensor", "t");
  Feature open = named({.kind = FeatureKind::kRaw, .dtype = DType::kInt16, .shape = {-1}}, "open", "r");
  return {.features = {named(list_of(FeatureKind::kVarLen, "", DType::kInt64), "list", "i"), ragged, sparse, padded,
                       tensor, open, fixed("s", DType::kBytes, {2}), fixed("n", DType::kInt64)}};
}

std::string every_variable_key(std::int64_t row) {
  const auto size = static_cast<std::size_t>(row * 7919 % 300);
  const std::string text(row == 77 ? 3'000'000 : size, static_cast<char>('a' + row % 26));  // one is a chunk of its own
  const std::string raw = text.substr(0, size / 2 * 2);
  const std::string tensor =
      varint(1 << 3) + varint(7) + field(2, field(2, varint(1 << 3) + varint(2))) + field(8, "x") + field(8, text);
  return floats("v", {1, 2, static_cast<float>(row)}) + ints("p", {row % 2, 3 - row % 2}) +
         ints("i", {row % 100, 3, 50}) + strings("t", {tensor}) + strings("r", {raw}) + strings("s", {text, "end"}) +
         ints("n", {row});
}

TEST(ParseLateRows, EveryVariableKindIsAsOfRowsInMemory) {
  std::vector<std::string> records;
  for (std::int64_t row = 0; row < 200; ++row) records.push_back(every_variable_key(row));
  const std::vector<std::int64_t> replica_rows{100, 57, 0, 43};
  const Schema schema = every_variable_kind();
  const auto early = parse(schema, records, replica_rows);
  ASSERT_TRUE(early.ok()) << early.status().to_string();
  for (const std::int64_t rows_per_task : {64, 1000}) {
    const auto late = parse_late(schema, records, replica_rows, rows_per_task);
    ASSERT_TRUE(late.ok()) << late.status().to_string();
    ASSERT_EQ(late->size(), early->size());
    for (std::size_t replica = 0; replica < late->size(); ++replica) {
      ASSERT_EQ(late->at(replica).columns.size(), 8U);
      for (std::size_t i = 0; i < 8; ++i) {
        expect_same(late->at(replica).columns[i], early->at(replica).columns[i]);
      }
    }
  }
}

TEST(ParseLateRows, NoMemoryForWhatIsNotedIsAFailure) {
  class NoRoom : public OneByOne {
    using OneByOne::OneByOne;
    std::uint8_t* room(std::size_t) override { return nullptr; }
  };
  const std::vector<std::string> records{ints("i", {1})};
  NoRoom loader(records);
  ParseInput input{.rows = {}, .loader = &loader, .replica_rows = {1}};
  input.rows.emplace_back(static_cast<const std::uint8_t*>(nullptr), records[0].size());
  const Schema schema{.features = {list_of(FeatureKind::kVarLen, "i", DType::kInt64)}};
  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, std::make_shared<BufferPool>());
  const std::unique_ptr<ParseJob> job = parser->begin(std::move(input), 64);
  job->run(0);
  ASSERT_FALSE(job->finish_phase());
  EXPECT_EQ(job->take().status().code(), StatusCode::kResourceExhausted);
}

// Some rows are staged before the first of them is hashed: their strings must still be there.
TEST(ParseLateRows, StringsThatAreTransformedLater) {
  const std::vector<std::string> vocabulary = {"zero", "one", "two", "three"};
  std::vector<std::string> records;
  for (std::size_t row = 0; row < 130; ++row) records.push_back(strings("s", {vocabulary[row % 4]}));
  const Schema schema{.features = {transformed(fixed("s", DType::kBytes), {Lookup{.strings = vocabulary}})}};
  const Result<std::vector<Slice>> slices = parse_late(schema, records, {130}, 1000);
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const auto ids = values_of<std::int64_t>(slices->front().columns.at(0).values);
  for (std::size_t row = 0; row < 130; ++row) ASSERT_EQ(ids.at(row), static_cast<std::int64_t>(row % 4)) << row;
}

}  // namespace
}  // namespace headrace::testing

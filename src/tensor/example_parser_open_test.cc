// TensorFeature and RawFeature whose shape is known only from the record: ragged, padded, equal.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/example.h"
#include "tensor/open_shape.h"
#include "tensor/parse_testing.h"

namespace headrace {
namespace {

using namespace testing;
using Ints = std::vector<std::int64_t>;
using Int32s = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

// An Example whose feature "t" holds an int32 tensor with the elements first, first + 1, …
std::string tensor(const Shape& shape, std::int32_t first = 1) {
  Int32s values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<std::int32_t>(i);
  const auto* data = reinterpret_cast<const std::uint8_t*>(values.data());
  return strings("t", {make_tensor_proto(DType::kInt32, shape, {data, values.size() * 4}).value()});
}
// One whose proto is written out: dtype (TensorFlow's number), shape, the rest of the fields.
std::string proto(int dtype, const Shape& shape, const std::string& rest) {
  std::string dims;
  for (const std::int64_t size : shape) {
    dims += field(2, varint(1 << 3) + varint(static_cast<std::uint64_t>(size)));
  }
  return strings("t", {varint(1 << 3) + varint(static_cast<std::uint64_t>(dtype)) + field(2, dims) + rest});
}

Feature open(Shape shape, UnknownDims unknown, DType dtype = DType::kInt32) {
  return {
      .name = "t", .kind = FeatureKind::kTensor, .dtype = dtype, .shape = std::move(shape), .unknown_dims = unknown};
}
Feature any_shape(UnknownDims unknown, DType dtype = DType::kInt32) {
  Feature feature = open({}, unknown, dtype);
  feature.unknown_rank = true;
  return feature;
}
Feature raw(Shape shape, UnknownDims unknown, DType dtype = DType::kInt16) {
  Feature feature = open(std::move(shape), unknown, dtype);
  feature.kind = FeatureKind::kRaw;
  return feature;
}

// The only column of each slice.
std::vector<Column> columns(const Feature& feature, const std::vector<std::string>& records,
                            std::vector<std::int64_t> replica_rows = {}) {
  if (replica_rows.empty()) replica_rows = {static_cast<std::int64_t>(records.size())};
  const Schema schema{.features = {feature}};
  const Status valid = schema.validate();
  EXPECT_TRUE(valid.ok()) << valid.message();
  Result<std::vector<Slice>> slices = parse(schema, records, std::move(replica_rows));
  EXPECT_TRUE(slices.ok()) << slices.status().message();
  std::vector<Column> found;
  if (!slices.ok()) return std::vector<Column>(8);
  for (Slice& slice : *slices) found.push_back(slice.columns.at(0));
  return found;
}
Column column(const Feature& feature, const std::vector<std::string>& records) { return columns(feature, records)[0]; }

Status failure(const Feature& feature, const std::vector<std::string>& records) {
  const Schema schema{.features = {feature}};
  const Status valid = schema.validate();
  EXPECT_TRUE(valid.ok()) << valid.message();
  return parse(schema, records, {static_cast<std::int64_t>(records.size())}).status();
}
void expect_failure(const Feature& feature, const std::vector<std::string>& records, std::int64_t row,
                    std::string_view text) {
  const Status status = failure(feature, records);
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().row, row);
  EXPECT_EQ(status.where().key, "t");
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(OpenDimensions, RaggedRowsKeepTheInnerDimensions) {
  const Column found = column(open({-1, 2}, UnknownDims::kRagged), {tensor({2, 2}), tensor({0, 2}), tensor({1, 2}, 9)});
  EXPECT_EQ(found.kind, ColumnKind::kRagged);
  EXPECT_EQ(found.values.shape, (Shape{3, 2}));
  EXPECT_EQ(values_of<std::int32_t>(found.values), (Int32s{1, 2, 3, 4, 9, 10}));
  EXPECT_EQ(splits_of(found), (Ints{0, 2, 2, 3}));
}

TEST(OpenDimensions, EveryDimensionUpToTheLastOpenOneIsRagged) {
  const Column nested =
      column(open({-1, -1}, UnknownDims::kRagged), {tensor({2, 1}), tensor({0, 5}), tensor({1, 3}, 7)});
  EXPECT_EQ(nested.values.shape, (Shape{5}));
  EXPECT_EQ(values_of<std::int32_t>(nested.values), (Int32s{1, 2, 7, 8, 9}));
  EXPECT_EQ(splits_of(nested, 0), (Ints{0, 2, 2, 3}));
  EXPECT_EQ(splits_of(nested, 1), (Ints{0, 1, 2, 5}));
  const Column uniform =
      column(open({2, -1}, UnknownDims::kRagged), {tensor({2, 1}), tensor({2, 0}), tensor({2, 2}, 7)});
  EXPECT_EQ(splits_of(uniform, 0), (Ints{0, 2, 4, 6}));
  EXPECT_EQ(splits_of(uniform, 1), (Ints{0, 1, 2, 2, 2, 4, 6}));
  EXPECT_EQ(values_of<std::int32_t>(uniform.values), (Int32s{1, 2, 7, 8, 9, 10}));
  const Column empty = column(open({-1, 0}, UnknownDims::kRagged), {tensor({3, 0}), tensor({1, 0})});
  EXPECT_EQ(splits_of(empty), (Ints{0, 3, 4}));
  EXPECT_EQ(empty.values.shape, (Shape{4, 0}));
}

TEST(OpenDimensions, PaddedToTheLongestOfTheGlobalBatch) {
  Feature feature = open({-1, -1}, UnknownDims::kPadded);
  feature = with_default<std::int32_t>(feature, {-1});
  const std::vector<Column> found = columns(feature, {tensor({2, 1}), tensor({1, 3}, 5), tensor({0, 0})}, {1, 2});
  EXPECT_EQ(found[0].kind, ColumnKind::kDense);
  EXPECT_EQ(found[0].values.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(values_of<std::int32_t>(found[0].values), (Int32s{1, -1, -1, 2, -1, -1}));
  EXPECT_EQ(found[1].values.shape, (Shape{2, 2, 3}));
  EXPECT_EQ(values_of<std::int32_t>(found[1].values), (Int32s{5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  const Column zeros = column(open({-1, 2}, UnknownDims::kPadded), {tensor({2, 2}), tensor({1, 2}, 7)});
  EXPECT_EQ(values_of<std::int32_t>(zeros.values), (Int32s{1, 2, 3, 4, 7, 8, 0, 0}));
}

TEST(OpenDimensions, PaddingOfThreeDimensions) {
  const Column found = column(open({-1, 2, -1}, UnknownDims::kPadded), {tensor({1, 2, 2}), tensor({2, 2, 1}, 7)});
  EXPECT_EQ(found.values.shape, (Shape{2, 2, 2, 2}));
  EXPECT_EQ(values_of<std::int32_t>(found.values), (Int32s{1, 2, 3, 4, 0, 0, 0, 0, 7, 0, 8, 0, 9, 0, 10, 0}));
}

TEST(OpenDimensions, EqualShapesAreDense) {
  const Column found = column(open({-1, 2}, UnknownDims::kEqual), {tensor({1, 2}), tensor({1, 2}, 5)});
  EXPECT_EQ(found.values.shape, (Shape{2, 1, 2}));
  EXPECT_EQ(values_of<std::int32_t>(found.values), (Int32s{1, 2, 5, 6}));
  expect_failure(open({-1, 2}, UnknownDims::kEqual), {tensor({1, 2}), tensor({1, 2}), tensor({3, 2})}, 2,
                 "Cannot batch tensors with different shapes: row 0 of the batch has [1,2], this one [3,2]");
}

TEST(OpenDimensions, TheLowestFailingRowWinsWhateverItsFault) {
  std::vector<std::string> records(200, tensor({1, 2}));
  records[150] = tensor({2, 3});
  expect_failure(open({-1, 2}, UnknownDims::kEqual), records, 150, "Shape mismatch between parsed tensor [2,3]");
  records[130] = tensor({2, 2});
  expect_failure(open({-1, 2}, UnknownDims::kEqual), records, 130, "Cannot batch");
}

TEST(OpenDimensions, TheRecordHasTheWholeShape) {
  EXPECT_EQ(column(any_shape(UnknownDims::kEqual), {tensor({2, 3}), tensor({2, 3})}).values.shape, (Shape{2, 2, 3}));
  EXPECT_EQ(column(any_shape(UnknownDims::kEqual), {tensor({}), tensor({})}).values.shape, (Shape{2}));
  expect_failure(any_shape(UnknownDims::kEqual), {tensor({2, 3}), tensor({6})}, 1, "has [2,3], this one [6]");
  expect_failure(any_shape(UnknownDims::kEqual), {tensor({1}), tensor({1, 1})}, 1, "has [1], this one [1,1]");
  expect_failure(any_shape(UnknownDims::kRagged), {tensor({1}), tensor({1, 1})}, 1, "different ranks");
  expect_failure(any_shape(UnknownDims::kEqual), {tensor(Shape{1, 1, 1, 1, 1, 1, 1, 1, 1})}, 0, "at most 8");
  const Column ragged = column(any_shape(UnknownDims::kRagged), {tensor({1, 2}), tensor({2, 1}, 7)});
  EXPECT_EQ(splits_of(ragged, 0), (Ints{0, 1, 3}));
  EXPECT_EQ(splits_of(ragged, 1), (Ints{0, 2, 3, 4}));
  const Column scalars = column(any_shape(UnknownDims::kRagged), {tensor({}), tensor({}, 7)});
  EXPECT_EQ(scalars.kind, ColumnKind::kDense);
  EXPECT_EQ(values_of<std::int32_t>(scalars.values), (Int32s{1, 7}));
  const Column padded = column(any_shape(UnknownDims::kPadded), {tensor({1, 2}), tensor({2, 1}, 7)});
  EXPECT_EQ(values_of<std::int32_t>(padded.values), (Int32s{1, 2, 0, 0, 7, 0, 8, 0}));
}

TEST(OpenDimensions, ReshapeWorksTheOpenDimensionOut) {
  Feature feature = open({-1, 2}, UnknownDims::kRagged);
  feature.reshape = true;
  const Column found = column(feature, {tensor({4}), tensor({2, 1, 3}, 7)});
  EXPECT_EQ(splits_of(found), (Ints{0, 2, 5}));
  expect_failure(feature, {tensor({4}), tensor({3})}, 1, "[3] and shape [?,2]");
}

TEST(OpenDimensions, ReplicasAndTasksMakeNoDifference) {
  std::vector<std::string> records;
  for (std::int32_t i = 0; i < 300; ++i) records.push_back(tensor({i % 3, i % 4, 2}, i));
  const Column whole = column(open({-1, -1, 2}, UnknownDims::kRagged), records);
  const std::vector<Column> parts = columns(open({-1, -1, 2}, UnknownDims::kRagged), records, {100, 0, 200});
  Int32s joined = values_of<std::int32_t>(parts[0].values);
  const Int32s last = values_of<std::int32_t>(parts[2].values);
  joined.insert(joined.end(), last.begin(), last.end());
  EXPECT_EQ(values_of<std::int32_t>(whole.values), joined);
  EXPECT_EQ(splits_of(parts[1], 0), (Ints{0}));
  EXPECT_EQ(splits_of(parts[1], 1), (Ints{0}));
  EXPECT_EQ(splits_of(parts[2], 0).size(), 201U);
  EXPECT_EQ(splits_of(whole, 1).back(), static_cast<std::int64_t>(joined.size() / 2));
}

TEST(OpenDimensions, TypedFieldsAndFills) {
  const std::string splat = proto(3, {3}, varint(7 << 3) + varint(5));
  const std::string zeros = proto(3, {1}, "");
  const Column ragged = column(open({-1}, UnknownDims::kRagged), {splat, zeros, tensor({2})});
  EXPECT_EQ(values_of<std::int32_t>(ragged.values), (Int32s{5, 5, 5, 0, 1, 2}));
  const std::string square = proto(3, {2, 2}, field(7, varint(5) + varint(6)));
  const Column padded = column(open({-1, -1}, UnknownDims::kPadded), {square, tensor({1, 3})});
  EXPECT_EQ(values_of<std::int32_t>(padded.values), (Int32s{5, 6, 0, 6, 6, 0, 1, 2, 3, 0, 0, 0}));
  expect_failure(open({-1}, UnknownDims::kRagged), {splat, proto(3, {1}, field(7, varint(5) + varint(6)))}, 1,
                 "has 2 values, expected 1");
  expect_failure(open({-1}, UnknownDims::kRagged, DType::kUint8), {proto(4, {2}, field(7, varint(300)))}, 0,
                 "out of range");
  expect_failure(open({-1}, UnknownDims::kRagged, DType::kBool), {proto(10, {2}, field(4, "\x01\x02"))}, 0,
                 "other than 0 and 1");
}

TEST(OpenDimensions, StringTensors) {
  const std::string two = proto(7, {2}, field(8, "ab") + field(8, "c"));
  const std::string fill = proto(7, {3}, field(8, "x"));
  const std::string none = proto(7, {0}, "");
  const Column ragged = column(open({-1}, UnknownDims::kRagged, DType::kBytes), {two, none, fill});
  EXPECT_EQ(strings_of(ragged), (Strings{"ab", "c", "x", "x", "x"}));
  EXPECT_EQ(splits_of(ragged), (Ints{0, 2, 2, 5}));
  Feature padded = open({-1}, UnknownDims::kPadded, DType::kBytes);
  padded.has_default = true;
  padded.default_bytes = {"--"};
  const std::vector<Column> found = columns(padded, {two, none, fill}, {2, 1});
  EXPECT_EQ(strings_of(found[0]), (Strings{"ab", "c", "--", "--", "--", "--"}));
  EXPECT_EQ(strings_of(found[1]), (Strings{"x", "x", "x"}));
}

TEST(OpenDimensions, RawBytes) {
  const std::string one = strings("t", {std::string("\x01\x02", 2)});
  const std::string two = strings("t", {std::string("\x03\x00\x04\x00", 4)});
  const std::string none = strings("t", {""});
  const Column ragged = column(raw({-1}, UnknownDims::kRagged), {one, none, two});
  EXPECT_EQ(values_of<std::int16_t>(ragged.values), (std::vector<std::int16_t>{0x201, 3, 4}));
  EXPECT_EQ(splits_of(ragged), (Ints{0, 1, 1, 3}));
  Feature big = raw({-1}, UnknownDims::kPadded);
  big.little_endian = false;
  EXPECT_EQ(values_of<std::int16_t>(column(big, {one, two}).values),
            (std::vector<std::int16_t>{0x102, 0, 0x300, 0x400}));
  EXPECT_EQ(values_of<std::uint8_t>(column(raw({-1}, UnknownDims::kPadded, DType::kBool), {one, two}).values),
            (std::vector<std::uint8_t>{1, 1, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(column(raw({2, -1}, UnknownDims::kRagged), {two, none}).row_splits.size(), 2U);
  expect_failure(raw({-1}, UnknownDims::kEqual), {one, two}, 1,
                 "DecodeRaw requires input strings to all be the same size, but this one has size 4 != 2");
  expect_failure(raw({-1}, UnknownDims::kRagged), {one, strings("t", {"abc"})}, 1,
                 "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16");
  expect_failure(raw({-1, 2}, UnknownDims::kRagged), {two, one}, 1, "expected a multiple of 4 bytes");
}

TEST(OpenDimensions, RawBytesOfAFixedLength) {
  Feature feature = raw({2}, UnknownDims::kRagged);
  feature.fixed_length = 4;
  const std::vector<std::string> records = {strings("t", {"\x01\x02\x03"}), strings("t", {"\x01\x02\x03\x04\x05"}),
                                            strings("t", {""})};
  EXPECT_EQ(values_of<std::int16_t>(column(feature, records).values),
            (std::vector<std::int16_t>{0x201, 3, 0x201, 0x403, 0, 0}));
  feature.little_endian = false;
  EXPECT_EQ(values_of<std::int16_t>(column(feature, records).values),
            (std::vector<std::int16_t>{0x102, 0x300, 0x102, 0x304, 0, 0}));
}

TEST(OpenDimensions, NoRowsAtAll) {
  EXPECT_EQ(column(open({-1, 3}, UnknownDims::kPadded), {}).values.shape, (Shape{0, 0, 3}));
  EXPECT_EQ(column(any_shape(UnknownDims::kEqual), {}).values.shape, (Shape{0}));
  const Column ragged = column(open({-1, 3}, UnknownDims::kRagged), {});
  EXPECT_EQ(ragged.values.shape, (Shape{0, 3}));
  EXPECT_EQ(splits_of(ragged), (Ints{0}));
}

TEST(OpenDimensions, AbsentAndWrongKind) {
  expect_failure(open({-1}, UnknownDims::kRagged), {tensor({1}), ints("other", {1})}, 1, "could not be found");
  expect_failure(open({-1}, UnknownDims::kRagged), {ints("t", {1})}, 0, "Data types don't match");
  expect_failure(open({-1}, UnknownDims::kRagged, DType::kInt64), {tensor({1})}, 0, "Type mismatch");
  expect_failure(open({-1}, UnknownDims::kRagged), {tensor({1, 1})}, 0, "[1,1] and shape [?]");
}

TEST(OpenDimensions, ClaimsAreCheckedBeforeMemoryIsTaken) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  const Feature flat = open({-1}, UnknownDims::kRagged);
  expect_failure(flat, {proto(3, {kHuge}, varint(7 << 3) + varint(5))}, 0, "claims 1099511627776 elements");
  for (const UnknownDims unknown : {UnknownDims::kRagged, UnknownDims::kPadded, UnknownDims::kEqual}) {
    expect_failure(open({-1, -1}, unknown), {proto(3, {kHuge, 0}, "")}, 0, "at most 1048576 may be empty");
    expect_failure(open({-1, -1}, unknown), {proto(3, {0, kHuge}, "")}, 0, "at most 1048576 may be empty");
  }
  // Each record is fine; together they would be padded to 2^20 x 2^20.
  const Status wide = failure(open({-1, -1}, UnknownDims::kPadded),
                              {proto(3, {1 << 20, 1}, varint(7 << 3) + varint(5)), proto(3, {1, 1 << 20}, "")});
  EXPECT_EQ(wide.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(wide.message().find("at most 4 GiB of padding"), std::string::npos) << wide.message();
  // 2^30 bytes each from a few: the fifth is too much.
  const std::vector<std::string> fills(5, proto(3, {1 << 28}, varint(7 << 3) + varint(5)));
  EXPECT_EQ(failure(flat, fills).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace headrace

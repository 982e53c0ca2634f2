// Columns of fixed size: values, defaults, encodings; replicas and tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string tensor(DType dtype, const Shape& shape, const std::string& content) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(content.data());
  return *make_tensor_proto(dtype, shape, {data, content.size()});
}

TEST(ParseDense, ScalarsAndArrays) {
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("x", DType::kFloat32),
                                   fixed("v", DType::kInt64, {2}), fixed("m", DType::kFloat32, {1, 2})}};
  const auto slices = parse(schema,
                            {ints("a", {7}) + floats("x", {1.5F}) + ints("v", {1, -2}) + floats("m", {3, 4}),
                             floats("m", {5, 6}) + ints("v", {1 << 20, 9}) + floats("x", {-2}) + ints("a", {-1})},
                            {2});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_EQ(slice.rows, 2);
  EXPECT_EQ(slice.columns.at(0).name, "a");
  EXPECT_THAT(slice.find("a")->values.shape, ElementsAre(2));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("a")->values), ElementsAre(7, -1));
  EXPECT_THAT(values_of<float>(slice.find("x")->values), ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(slice.find("v")->values.shape, ElementsAre(2, 2));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("v")->values), ElementsAre(1, -2, 1 << 20, 9));
  EXPECT_THAT(slice.find("m")->values.shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(values_of<float>(slice.find("m")->values), ElementsAre(3, 4, 5, 6));
  for (const Column& column : slice.columns) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.values.data) % kColumnAlignment, 0U) << column.name;
    EXPECT_GE(column.values.data, column.values.buffer->data());
    EXPECT_LE(column.values.data + column.values.bytes(), column.values.buffer->data() + column.values.buffer->size());
  }
  EXPECT_EQ(slice.find("nothing"), nullptr);
}

TEST(ParseDense, OtherEncodingsOfTheList) {
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("v", DType::kInt64, {3}),
                                   fixed("x", DType::kFloat32), fixed("w", DType::kFloat32, {2})}};
  const std::string unpacked = feature("a", ListKind::kInt64, "\x08" + varint(300)) +
                               feature("v", ListKind::kInt64, "\x08\x01" + field(1, "\x02\x03")) +
                               feature("x", ListKind::kFloat, "\x0D" + bits(2.5F)) +
                               feature("w", ListKind::kFloat, field(1, bits(1.0F)) + field(1, bits(2.0F)));
  const std::string long_varint =
      ints("a", {INT64_MIN}) + ints("v", {INT64_MAX, 0, -1}) + floats("x", {0}) + floats("w", {8, 9});
  const auto slices = parse(schema, {unpacked, long_varint}, {2});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_THAT(values_of<std::int64_t>(slice.find("a")->values), ElementsAre(300, INT64_MIN));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("v")->values), ElementsAre(1, 2, 3, INT64_MAX, 0, -1));
  EXPECT_THAT(values_of<float>(slice.find("x")->values), ElementsAre(2.5F, 0.0F));
  EXPECT_THAT(values_of<float>(slice.find("w")->values), ElementsAre(1, 2, 8, 9));
}

TEST(ParseDense, DefaultsScalarAndFull) {
  Feature text = fixed("s", DType::kBytes, {2});
  text.has_default = true;
  text.default_bytes = {"none"};
  const Schema schema{.features = {with_default<std::int64_t>(fixed("a", DType::kInt64), {5}),
                                   with_default<std::int64_t>(fixed("v", DType::kInt64, {2}), {9}),
                                   with_default<float>(fixed("w", DType::kFloat32, {2}), {1, 2}), text}};
  const auto slices = parse(schema,
                            {"", without_kind("a") + without_kind("s"),
                             ints("a", {1}) + ints("v", {2, 3}) + floats("w", {4, 5}) + strings("s", {"p", ""})},
                            {3});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_THAT(values_of<std::int64_t>(slice.find("a")->values), ElementsAre(5, 5, 1));
  EXPECT_THAT(values_of<std::int64_t>(slice.find("v")->values), ElementsAre(9, 9, 9, 9, 2, 3));
  EXPECT_THAT(values_of<float>(slice.find("w")->values), ElementsAre(1, 2, 1, 2, 4, 5));
  EXPECT_THAT(slice.find("s")->values.shape, ElementsAre(3, 2));
  EXPECT_THAT(strings_of(*slice.find("s")), ElementsAre("none", "none", "none", "none", "p", ""));
}

TEST(ParseDense, TensorsOfEveryForm) {
  Feature image = list_of(FeatureKind::kTensor, "t", DType::kFloat32, {2});
  Feature flat = list_of(FeatureKind::kTensor, "r", DType::kUint8, {4});
  flat.reshape = true;
  const Feature flags = list_of(FeatureKind::kTensor, "b", DType::kBool, {2});
  const Schema schema{.features = {image, flat, flags}};
  const std::string content = strings("t", {tensor(DType::kFloat32, {2}, bits(1.5F) + bits(-3.0F))}) +
                              strings("r", {tensor(DType::kUint8, {2, 2}, "\x01\x02\x03\x04")}) +
                              strings("b", {tensor(DType::kBool, {2}, std::string("\x01\x00", 2))});
  // dtype 1 (float), shape [2], float_val 7: one value for all. dtype 4 (uint8), shape [4], int_val 9. dtype 10, bool_val.
  const std::string splat = strings("t", {"\x08\x01" + field(2, field(2, "\x08\x02")) + field(5, bits(7.0F))}) +
                            strings("r", {"\x08\x04" + field(2, field(2, "\x08\x04")) + field(7, "\x09")}) +
                            strings("b", {"\x08\x0A" + field(2, field(2, "\x08\x02")) + field(11, "\x01")});
  const auto slices = parse(schema, {content, splat}, {2});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_THAT(slice.find("t")->values.shape, ElementsAre(2, 2));
  EXPECT_THAT(values_of<float>(slice.find("t")->values), ElementsAre(1.5F, -3.0F, 7.0F, 7.0F));
  EXPECT_THAT(values_of<std::uint8_t>(slice.find("r")->values), ElementsAre(1, 2, 3, 4, 9, 9, 9, 9));
  EXPECT_THAT(values_of<std::uint8_t>(slice.find("b")->values), ElementsAre(1, 0, 1, 1));
}

TEST(ParseDense, RawInBothByteOrders) {
  Feature big = list_of(FeatureKind::kRaw, "big", DType::kInt16, {2});
  big.key = "raw";
  big.little_endian = false;
  Feature little = list_of(FeatureKind::kRaw, "little", DType::kInt16, {2});
  little.key = "raw";
  Feature complex = list_of(FeatureKind::kRaw, "c", DType::kComplex64, {});
  complex.little_endian = false;
  const Feature flags = list_of(FeatureKind::kRaw, "b", DType::kBool, {3});
  const auto slices = parse({.features = {big, little, complex, flags}},
                            {strings("raw", {std::string_view("\x00\x01\x02\x03", 4)}) +
                             strings("c", {std::string_view("\x3F\x80\x00\x00\x40\x00\x00\x00", 8)}) +
                             strings("b", {std::string_view("\x00\x02\x01", 3)})},
                            {1});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_THAT(values_of<std::int16_t>(slice.find("big")->values), ElementsAre(0x0001, 0x0203));
  EXPECT_THAT(values_of<std::int16_t>(slice.find("little")->values), ElementsAre(0x0100, 0x0302));
  EXPECT_EQ(slice.find("c")->values.elements(), 1);
  float parts[2];
  std::memcpy(parts, slice.find("c")->values.data, sizeof parts);
  EXPECT_EQ(parts[0], 1.0F);
  EXPECT_EQ(parts[1], 2.0F);
  EXPECT_THAT(values_of<std::uint8_t>(slice.find("b")->values), ElementsAre(0, 1, 1));
}

TEST(ParseDense, FloatBitsAreKept) {
  const std::uint32_t signalling = 0x7F800001;
  float nan = 0;
  std::memcpy(&nan, &signalling, sizeof nan);
  const auto slices = parse({.features = {fixed("x", DType::kFloat32), fixed("y", DType::kFloat32, {2})}},
                            {feature("x", ListKind::kFloat, field(1, bits(signalling))) +
                             feature("y", ListKind::kFloat, field(1, bits(signalling) + bits(-0.0F)))},
                            {1});
  ASSERT_TRUE(slices.ok());
  EXPECT_THAT(values_of<std::uint32_t>(slices->at(0).find("x")->values), ElementsAre(signalling));
  EXPECT_THAT(values_of<std::uint32_t>(slices->at(0).find("y")->values), ElementsAre(signalling, 0x80000000U));
}

TEST(ParseDense, ShapeWithZero) {
  const Schema schema{.features = {fixed("v", DType::kInt64, {0}), fixed("s", DType::kBytes, {0, 2})}};
  const auto slices = parse(schema, {feature("v", ListKind::kInt64, "") + feature("s", ListKind::kBytes, "")}, {1});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  EXPECT_THAT(slices->at(0).find("v")->values.shape, ElementsAre(1, 0));
  EXPECT_THAT(slices->at(0).find("s")->values.shape, ElementsAre(1, 0, 2));
}

TEST(ParseDense, EmptyBatchAndEmptySchema) {
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("s", DType::kBytes)}};
  const auto slices = parse(schema, {}, {0, 0});
  ASSERT_TRUE(slices.ok());
  ASSERT_EQ(slices->size(), 2U);
  EXPECT_EQ(slices->at(1).rows, 0);
  EXPECT_THAT(slices->at(1).find("a")->values.shape, ElementsAre(0));
  EXPECT_THAT(strings_of(*slices->at(1).find("s")), IsEmpty());
  EXPECT_THAT(values_of<std::int64_t>(slices->at(1).find("s")->byte_offsets), ElementsAre(0));

  const auto nothing = parse({}, {ints("a", {1})}, {1});
  ASSERT_TRUE(nothing.ok());
  EXPECT_THAT(nothing->at(0).columns, IsEmpty());
}

// Row r holds a = r and w = [r, r + 0.5]; whatever the cut, row r must come out in place r.
TEST(ParseDense, SameValuesForAnyReplicasAndTasks) {
  constexpr int kRows = 333;
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("w", DType::kFloat32, {2})}, .origin = true};
  std::vector<std::string> records;
  std::vector<RowOrigin> origins;
  for (int r = 0; r < kRows; ++r) {
    records.push_back(ints("a", {r}) + floats("w", {static_cast<float>(r), static_cast<float>(r) + 0.5F}));
    origins.push_back({r % 3, r / 3});
  }
  const std::vector<std::vector<std::int64_t>> cuts = {{kRows},          {167, 166},     {111, 111, 111},
                                                       {84, 83, 83, 83}, {333, 0, 0, 0}, {0, 1, 332}};
  for (const auto& cut : cuts) {
    for (const std::int64_t rows_per_task : {1, 65, 128, 1000}) {
      const auto slices = parse(schema, records, cut, rows_per_task, origins);
      ASSERT_TRUE(slices.ok()) << slices.status().to_string();
      std::int64_t row = 0;
      for (const Slice& slice : *slices) {
        const auto a = values_of<std::int64_t>(slice.find("a")->values);
        const auto w = values_of<float>(slice.find("w")->values);
        const auto shard = values_of<std::int64_t>(slice.find("_shard")->values);
        const auto record = values_of<std::int64_t>(slice.find("_record")->values);
        for (std::size_t i = 0; i < static_cast<std::size_t>(slice.rows); ++i, ++row) {
          ASSERT_EQ(a.at(i), row);
          ASSERT_EQ(w.at(2 * i), static_cast<float>(row));
          ASSERT_EQ(w.at(2 * i + 1), static_cast<float>(row) + 0.5F);
          ASSERT_EQ(shard.at(i), row % 3);
          ASSERT_EQ(record.at(i), row / 3);
        }
      }
      ASSERT_EQ(row, kRows);
    }
  }
}

TEST(ParseDense, LargeColumnsHaveBuffersOfTheirOwn) {
  const Schema schema{
      .features = {fixed("a", DType::kInt64), fixed("big", DType::kFloat32, {16384}), fixed("b", DType::kInt64)}};
  std::string packed(16384 * 4, '\0');
  packed[0] = 1;
  const auto slices =
      parse(schema, {ints("a", {1}) + ints("b", {2}) + feature("big", ListKind::kFloat, field(1, packed))}, {1});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  const Slice& slice = slices->at(0);
  EXPECT_EQ(slice.find("a")->values.buffer, slice.find("b")->values.buffer);
  EXPECT_NE(slice.find("a")->values.buffer, slice.find("big")->values.buffer);
  EXPECT_EQ(std::memcmp(slice.find("big")->values.data, packed.data(), packed.size()), 0);
}

}  // namespace
}  // namespace headrace::testing

#include "tensor/slice_codec.h"

#include <gtest/gtest.h>

#include "tensor/parse_testing.h"

namespace headrace {
namespace {

using namespace testing;

std::vector<Slice> all_kinds() {
  Feature sparse = list_of(FeatureKind::kSparse, "sparse", DType::kFloat32);
  sparse.indices = {{"at", 9}};
  Feature jagged = list_of(FeatureKind::kJagged, "jagged", DType::kInt64);
  jagged.keys = {"v", "w"};
  const Schema schema{.features = {fixed("i", DType::kInt64), fixed("s", DType::kBytes, {2}),
                                   list_of(FeatureKind::kVarLen, "v", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "strings", DType::kBytes),
                                   list_of(FeatureKind::kFixedLenSequence, "steps", DType::kFloat32), sparse, jagged},
                      .origin = true};
  const std::string first = ints("i", {1}) + strings("s", {"a", ""}) + ints("v", {5, 6}) + ints("w", {}) +
                            strings("strings", {"one", "", "three"}) + floats("steps", {0.5}) +
                            floats("sparse", {1, 2}) + ints("at", {7, 0});
  const std::string second = ints("i", {-1}) + strings("s", {"bc", "d"});
  Result<std::vector<Slice>> slices = parse(schema, {first, second, first}, {2, 1, 0}, 64, {{0, 1}, {0, 2}, {1, 3}});
  EXPECT_TRUE(slices.ok()) << slices.status().to_string();
  return std::move(*slices);
}

void expect_same(const std::vector<Slice>& a, const std::vector<Slice>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    EXPECT_EQ(a[s].rows, b[s].rows);
    ASSERT_EQ(a[s].columns.size(), b[s].columns.size());
    for (std::size_t c = 0; c < a[s].columns.size(); ++c) {
      const Column& x = a[s].columns[c];
      const Column& y = b[s].columns[c];
      EXPECT_EQ(x.name, y.name);
      EXPECT_EQ(x.kind, y.kind);
      EXPECT_EQ(x.values.shape, y.values.shape);
      EXPECT_EQ(x.dense_shape, y.dense_shape);
      ASSERT_EQ(x.row_splits.size(), y.row_splits.size());
      for (std::size_t d = 0; d < x.row_splits.size(); ++d) EXPECT_EQ(splits_of(x, d), splits_of(y, d));
      ASSERT_EQ(x.keys == nullptr, y.keys == nullptr);
      if (x.keys != nullptr) {
        EXPECT_EQ(*x.keys, *y.keys);
      }
      if (x.kind == ColumnKind::kSparse) {
        EXPECT_EQ(values_of<std::int64_t>(x.indices), values_of<std::int64_t>(y.indices));
      }
      EXPECT_NE(x.values.data, y.values.data);
      if (x.values.dtype == DType::kBytes) {
        EXPECT_EQ(strings_of(x), strings_of(y));
        for (std::int64_t i = 0; i < y.values.elements(); ++i) EXPECT_EQ(x.bytes_at(i), y.bytes_at(i));
      } else {
        EXPECT_EQ(std::memcmp(x.values.data, y.values.data, x.values.bytes()), 0) << x.name;
      }
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(y.values.data) % kColumnAlignment, 0U);
    }
  }
}

TEST(SliceCodec, ColumnsOfAllKindsComeBack) {
  const std::vector<Slice> slices = all_kinds();
  BufferPool pool;
  const std::vector<std::uint8_t> bytes = encode_slices(slices);
  const Result<std::vector<Slice>> decoded = decode_slices(bytes, pool);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  expect_same(slices, *decoded);
}

TEST(SliceCodec, NothingAndNoSlices) {
  BufferPool pool;
  EXPECT_FALSE(decode_slices({}, pool).ok());
  const Result<std::vector<Slice>> none = decode_slices(encode_slices({}), pool);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST(SliceCodec, WhateverTheBytesHoldNoColumnReachesBeyondItsBuffer) {
  const std::vector<std::uint8_t> bytes = encode_slices(all_kinds());
  BufferPool pool;
  int refused = 0;
  const auto look_at_all = [&pool, &refused](std::span<const std::uint8_t> damaged) {
    const Result<std::vector<Slice>> decoded = decode_slices(damaged, pool);
    if (!decoded.ok()) {
      ++refused;
      EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss);
      return;
    }
    for (const Slice& slice : *decoded) {
      for (const Column& column : slice.columns) {
        const bool is_bytes = column.values.dtype == DType::kBytes;
        for (std::int64_t i = 0; is_bytes && i < column.values.elements(); ++i) (void)std::string(column.bytes_at(i));
        if (column.values.data == nullptr) continue;
        EXPECT_LE(column.values.data + column.values.bytes(),
                  column.values.buffer->data() + column.values.buffer->size());
      }
    }
  };
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (const std::uint8_t flip : {0x01, 0x40, 0x80, 0xFF}) {
      std::vector<std::uint8_t> damaged = bytes;
      damaged[place] ^= flip;
      look_at_all(damaged);
    }
    look_at_all(std::span(bytes).first(place));
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

}  // namespace
}  // namespace headrace

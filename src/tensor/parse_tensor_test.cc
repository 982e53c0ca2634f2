// parse_tensor() on the caller's bytes. Values are written by hand; tests/python compares with TensorFlow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kInt32Number = 3;
constexpr int kInt64Number = 9;

std::string dims(std::initializer_list<std::int64_t> sizes) {
  std::string shape;
  for (const std::int64_t size : sizes) shape += field(2, "\x08" + varint(static_cast<std::uint64_t>(size)));
  return field(2, shape);
}
std::string dtype(int number) { return "\x08" + varint(static_cast<std::uint64_t>(number)); }
/// An int64 tensor whose values are in int64_val (field 10).
std::string int64s(std::initializer_list<std::int64_t> shape, std::initializer_list<std::uint64_t> values) {
  std::string packed;
  for (const std::uint64_t value : values) packed += varint(value);
  return dtype(kInt64Number) + dims(shape) + field(10, packed);
}

Result<Column> parse(const std::vector<std::string>& protos, DType type, int threads = 1) {
  const std::vector<std::string_view> views(protos.begin(), protos.end());
  return parse_tensor(views, type, threads);
}

TEST(ParseTensor, TensorsOfOneShapeAreStacked) {
  const auto column = parse({int64s({2, 1}, {1, 2}), int64s({2, 1}, {3})}, DType::kInt64);
  ASSERT_TRUE(column.ok()) << column.status().to_string();
  EXPECT_THAT(column->values.shape, ElementsAre(2, 2, 1));
  EXPECT_THAT(values_of<std::int64_t>(column->values), ElementsAre(1, 2, 3, 3));
}

TEST(ParseTensor, Strings) {
  const std::string first = dtype(7) + dims({2}) + field(8, "a") + field(8, "");
  const std::string second = dtype(7) + dims({2}) + field(8, "bcd");
  const auto column = parse({first, second}, DType::kBytes);
  ASSERT_TRUE(column.ok()) << column.status().to_string();
  EXPECT_THAT(column->values.shape, ElementsAre(2, 2));
  EXPECT_THAT(strings_of(*column), ElementsAre("a", "", "bcd", "bcd"));
}

TEST(ParseTensor, AnyNumberOfThreads) {
  std::vector<std::string> protos;
  std::vector<std::int64_t> wanted;
  for (std::uint64_t i = 0; i < 500; ++i) {
    protos.push_back(int64s({2}, {i, i * i}));
    wanted.push_back(static_cast<std::int64_t>(i));
    wanted.push_back(static_cast<std::int64_t>(i * i));
  }
  for (const int threads : {1, 3, 100}) {
    EXPECT_EQ(values_of<std::int64_t>(parse(protos, DType::kInt64, threads)->values), wanted);
  }
}

TEST(ParseTensor, NothingHasNoShape) { EXPECT_THAT(parse({}, DType::kFloat32)->values.shape, ElementsAre(0)); }

TEST(ParseTensor, TheLowestRowIsReported) {
  const std::string good = int64s({2}, {1, 2});
  const Status shape = parse({good, int64s({3}, {1}), "junk"}, DType::kInt64).status();
  EXPECT_EQ(shape.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(shape.where().row, 1);
  EXPECT_EQ(shape.where().expected, "[2]");
  EXPECT_EQ(shape.where().found, "[3]");
  const Status type = parse({good, good, dtype(kInt32Number) + dims({2})}, DType::kInt64).status();
  EXPECT_EQ(type.where().row, 2);
  EXPECT_THAT(type.message(), HasSubstr("Type mismatch between parsed tensor (int32) and dtype (int64)"));
  // More values than elements: seen when they are decoded.
  std::vector<std::string> protos(100, good);
  protos[40] = protos[70] = int64s({2}, {1, 2, 3});
  for (const int threads : {1, 4}) EXPECT_EQ(parse(protos, DType::kInt64, threads).status().where().row, 40);
  EXPECT_EQ(parse({good}, DType::kInt64, 0).status().code(), StatusCode::kInvalidArgument);
}

TEST(ParseTensor, ClaimsAreBounded) {
  // Each message may fill a shape of half a GiB from one value; three of them claim too much.
  const std::string half = int64s({std::int64_t{1} << 26}, {7});
  const Status status = parse({half, half, half}, DType::kInt64).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("3 tensors of shape [67108864]"));
  // No element, but a product of dimensions that does not fit.
  const std::string empty = int64s({std::int64_t{1} << 62, 0}, {});
  EXPECT_EQ(parse({empty, empty, empty, empty}, DType::kInt64).status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace headrace::testing

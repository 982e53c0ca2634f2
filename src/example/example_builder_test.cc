#include <gtest/gtest.h>

#include "example/wire_test_bytes.h"
#include "headrace/example.h"

namespace headrace {
namespace {

using namespace test;

TEST(ExampleBuilder, WritesTheUsualForm) {
  const std::int64_t ints[] = {1, 300, -1};
  const float floats[] = {1.5F, -2};
  const std::string_view strings[] = {"", std::string_view("a\0b", 3)};
  ExampleBuilder builder;
  builder.add_int64("i", ints).add_float("f", floats).add_bytes("", strings);
  EXPECT_EQ(builder.build(),
            example(entry("i", int64_feature({1, 300, ~std::uint64_t{0}})) +
                    entry("f", bytes_field(2, bytes_field(1, raw<float>({1.5F, -2})))) +
                    entry("", bytes_field(1, bytes_field(1, "") + bytes_field(1, std::string_view("a\0b", 3))))));
}

TEST(ExampleBuilder, EmptyListsAndLongOnes) {
  EXPECT_EQ(ExampleBuilder().build(), example(""));
  ExampleBuilder empty;
  empty.add_int64("i", {}).add_float("f", {}).add_bytes("b", {});
  EXPECT_EQ(empty.build(),
            example(entry("i", bytes_field(3, "")) + entry("f", bytes_field(2, "")) + entry("b", bytes_field(1, ""))));
  const std::string text(100000, 't');
  const std::string_view value = text;
  ExampleBuilder large;
  large.add_bytes("b", {&value, 1});
  EXPECT_EQ(large.build(), example(entry("b", bytes_field(1, bytes_field(1, text)))));
}

TEST(MakeTensorProto, WritesWhatTensorFlowWrites) {
  const std::vector<std::uint8_t> data(24, 7);
  const std::string dims = bytes_field(2, varint_field(1, 2)) + bytes_field(2, varint_field(1, 3));
  EXPECT_EQ(*make_tensor_proto(DType::kFloat32, {2, 3}, data),
            varint_field(1, 1) + bytes_field(2, dims) + bytes_field(4, std::string(24, '\x07')));
  EXPECT_EQ(*make_tensor_proto(DType::kInt64, {}, std::vector<std::uint8_t>(8)),
            varint_field(1, 9) + bytes_field(2, "") + bytes_field(4, std::string(8, '\0')));
  EXPECT_EQ(*make_tensor_proto(DType::kUint8, {0}, {}), varint_field(1, 4) + bytes_field(2, bytes_field(2, "")));
}

TEST(MakeTensorProto, RefusesWhatDoesNotFit) {
  const std::vector<std::uint8_t> data(8, 2);
  for (const auto& result : {make_tensor_proto(DType::kInt64, {2}, data), make_tensor_proto(DType::kBytes, {}, data),
                             make_tensor_proto(DType::kInt64, {-1}, data), make_tensor_proto(DType::kBool, {8}, data),
                             make_tensor_proto(DType::kInt64, {std::int64_t{1} << 40, std::int64_t{1} << 40}, data)}) {
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace headrace

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example/wire_test_bytes.h"
#include "headrace/example.h"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> keys_of(const ExampleContent& content) {
  std::vector<std::string> keys;
  for (const ExampleFeature& feature : content.features) keys.push_back(feature.key);
  return keys;
}

TEST(ReadExample, ListsEveryFeature) {
  const std::int64_t ints[] = {1, 2, 3};
  const float floats[] = {0.5F};
  const std::string_view strings[] = {"x", ""};
  const std::string record =
      ExampleBuilder().add_int64("i", ints).add_float("f", floats).add_bytes("b", strings).build();
  const auto content = read_example(record);
  ASSERT_TRUE(content.ok()) << content.status().to_string();
  EXPECT_FALSE(content->is_sequence);
  ASSERT_THAT(keys_of(*content), ElementsAre("i", "f", "b"));
  EXPECT_EQ(content->features[0].dtype, DType::kInt64);
  EXPECT_EQ(content->features[0].values, 3);
  EXPECT_EQ(content->features[1].dtype, DType::kFloat32);
  EXPECT_EQ(content->features[1].values, 1);
  EXPECT_EQ(content->features[2].dtype, DType::kBytes);
  EXPECT_THAT(content->features[2].strings, ElementsAre("x", ""));
}

TEST(ReadExample, AKeyIsListedOnceAndItsLastEntryCounts) {
  const std::string record =
      example(entry("a", int64_feature({1})) + entry("b", "") + entry("a", int64_feature({2, 3})));
  const auto content = read_example(record);
  ASSERT_TRUE(content.ok());
  ASSERT_THAT(keys_of(*content), ElementsAre("a", "b"));
  EXPECT_EQ(content->features[0].values, 2);
  EXPECT_FALSE(content->features[1].dtype.has_value());
}

TEST(ReadExample, ASequenceExampleIsSeen) {
  const std::string record = example(entry("a", int64_feature({1}))) + bytes_field(2, "");
  const auto content = read_example(record);
  ASSERT_TRUE(content.ok());
  EXPECT_TRUE(content->is_sequence);
  EXPECT_THAT(keys_of(*content), ElementsAre("a"));
}

TEST(ReadExample, NothingAndJunk) {
  EXPECT_THAT(read_example("")->features, IsEmpty());
  EXPECT_EQ(read_example("\x0A\x05oops").status().code(), StatusCode::kSchemaMismatch);
  const std::string cut_list = example(entry("a", bytes_field(2, bytes_field(1, "abc"))));
  const Status status = read_example(cut_list).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().key, "a");
}

TEST(DescribeTensor, TypeAndShape) {
  const std::uint8_t data[12] = {};
  const auto tensor = describe_tensor(*make_tensor_proto(DType::kInt16, {3, 2}, data));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dtype, DType::kInt16);
  EXPECT_THAT(tensor->shape, ElementsAre(3, 2));
  EXPECT_FALSE(describe_tensor("junk").ok());
}

}  // namespace
}  // namespace headrace::test

// Images in the parser's pass, and the random number of each row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "headrace/example.h"
#include "image/image_testing.h"
#include "support/allocation_count.h"
#include "tensor/parse_testing.h"
#include "tensor/row_keys.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

Feature image(Shape shape, ImageOptions options = {}) {
  return {.name = "i",
          .kind = FeatureKind::kImage,
          .dtype = DType::kUint8,
          .shape = std::move(shape),
          .image = std::move(options)};
}

std::string record(const FileBytes& file) {
  return strings("i", {std::string_view(reinterpret_cast<const char*>(file.data()), file.size())});
}

TEST(ExampleParserImages, PixelsStandInTheirRow) {
  const Pixels first = test_pixels(4, 5, 3);
  Pixels second = first;
  for (std::uint8_t& value : second.data) value ^= 0xFF;
  const auto slices =
      parse({.features = {fixed("a", DType::kInt64), image({4, 5, 3})}},
            {ints("a", {1}) + record(encode_png(first)), record(encode_png(second)) + ints("a", {2})}, {1, 1});
  ASSERT_TRUE(slices.ok()) << slices.status().to_string();
  for (const auto& [slice, pixels] : {std::pair{(*slices)[0], first}, {(*slices)[1], second}}) {
    EXPECT_EQ(slice.columns[1].values.shape, (Shape{1, 4, 5, 3}));
    EXPECT_EQ(values_of<std::uint8_t>(slice.columns[1].values), pixels.data);
  }
}

TEST(ExampleParserImages, TheLowestBadRowIsNamed) {
  const std::string good = record(encode_png(test_pixels(4, 5, 3)));
  const std::vector<std::string> records = {good, strings("i", {"no image"}), strings("i", {"neither"}), ints("i", {1}),
                                            good};
  const Status status = parse({.features = {image({4, 5, 3})}}, records, {5}).status();
  EXPECT_EQ(status.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(status.where().row, 1);
  EXPECT_EQ(status.where().key, "i");
  EXPECT_EQ(status.where().found, "8 bytes that begin as neither");
  EXPECT_THAT(status.to_string(), Not(HasSubstr("no image")));
  const Status missing = parse({.features = {image({4, 5, 3})}}, {ints("a", {1})}, {1}).status();
  EXPECT_THAT(missing.message(), HasSubstr("i"));
  const Status several = parse({.features = {image({4, 5, 3})}}, {strings("i", {"a", "b"})}, {1}).status();
  EXPECT_EQ(several.where().row, 0);
}

TEST(ExampleParserImages, WhatASchemaRefuses) {
  const auto why = [](Feature feature) { return Schema{.features = {std::move(feature)}}.validate().message(); };
  EXPECT_EQ(why(image({4, 5, 3})), "");
  EXPECT_THAT(why(image({4, 5})), HasSubstr("feature \"i\": an image has height, width and channels"));
  EXPECT_THAT(why(with_default<std::uint8_t>(image({4, 5, 3}), {1})), HasSubstr("default_value where none is taken"));
  Feature in_step = image({4, 5, 3});
  in_step.feature_list = true;
  EXPECT_FALSE((Schema{.features = {in_step}, .sequence = true}.validate().ok()));
}

TEST(ExampleParserImages, RandomNumbersNeedTheirKeys) {
  const Schema schema{.features = {image({4, 4, 3}, {.crop = RandomResizedCrop()})}};
  EXPECT_TRUE(draws_numbers(schema));
  const std::string serialized = record(encode_png(test_pixels(40, 50, 3)));
  EXPECT_EQ(parse(schema, {serialized}, {1}).status().code(), StatusCode::kInvalidArgument);
  // Rows of parse_example have their place as key.
  const std::vector<std::string_view> same(3, serialized);
  const auto slice = parse_example(same, schema);
  ASSERT_TRUE(slice.ok()) << slice.status().to_string();
  const auto pixels = values_of<std::uint8_t>(slice->columns[0].values);
  EXPECT_NE(std::vector(pixels.begin(), pixels.begin() + 48), std::vector(pixels.begin() + 48, pixels.begin() + 96));
}

TEST(ExampleParserImages, NoAllocationPerRecord) {
  const Schema schema{.features = {image({6, 7, 3}), image({6, 7, 3}, {.resize = ImageResize::kAntialias})}};
  Schema two = schema;
  two.features[1].name = "j";
  two.features[1].key = "i";
  std::string serialized = record(encode_jpeg(test_pixels(20, 30, 3)));
  const std::size_t size = serialized.size();
  serialized.append(kRecordPadding, '\0');
  const RecordBytes row(reinterpret_cast<const std::uint8_t*>(serialized.data()), size);
  const std::unique_ptr<BatchParser> parser = make_example_parser(two, std::make_shared<BufferPool>());
  const auto allocations = [&](std::size_t rows) {
    ParseInput input{.rows = std::vector<RecordBytes>(rows, row), .replica_rows = {static_cast<std::int64_t>(rows)}};
    const std::int64_t before = allocation_count();
    const std::unique_ptr<ParseJob> job = parser->begin(std::move(input), 64);
    do {
      for (int task = 0; task < job->tasks(); ++task) job->run(task);
    } while (job->finish_phase());
    EXPECT_TRUE(job->take().ok());
    return allocation_count() - before;
  };
  (void)allocations(64);
  (void)allocations(256);
  EXPECT_LE(allocations(256), allocations(64) + 16);
}

TEST(RowKeys, FollowTheEpochOfEachRow) {
  RecordBlock block;
  block.shard = 3;
  block.first_ordinal = 10;
  block.records.resize(4);
  RecordBatch batch;
  batch.epoch = 5;
  batch.rows = 6;
  batch.runs = {{&block, 0, 3}, {&block, 0, 3}};
  batch.later_epochs = {{3, 6}};
  const RandomStream stream{.seed = 42};
  const auto keys = row_keys(stream, batch, 6);
  ASSERT_EQ(keys.size(), 6U);
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), 6U);
  EXPECT_EQ(keys[1], row_key(stream, 5, 3, 11));
  EXPECT_EQ(keys[4], row_key(stream, 6, 3, 11));
  EXPECT_EQ(row_keys(stream, batch, 2), std::vector(keys.begin(), keys.begin() + 2));
  // Part of the frozen stream: never another number.
  EXPECT_EQ(keys[0], 17651873487779171400U);
}

TEST(RowKeys, MixedEpochsCountRows) {
  RecordBlock block;
  block.records.resize(4);
  RecordBatch batch;
  batch.number = 9;
  batch.rows = 4;
  batch.runs = {{&block, 1, 2}, {&block, 1, 2}};
  const auto keys = row_keys({.seed = 42, .mixes_epochs = true}, batch, 4);
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), 4U);
}

}  // namespace
}  // namespace headrace::testing

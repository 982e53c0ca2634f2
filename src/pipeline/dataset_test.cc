#include "headrace/dataset.h"

#include <gtest/gtest.h>

#include <functional>

#include "headrace/pipeline.h"

namespace headrace {
namespace {

Dataset source() { return TFRecordDataset({{"/nowhere/a.tfrecord"}, true}); }

Schema one_feature() {
  Schema schema;
  Feature feature;
  feature.name = "x";
  feature.dtype = DType::kInt64;
  schema.features.push_back(feature);
  return schema;
}

TEST(Dataset, TheDocumentedOrderWorks) {
  const Dataset dataset = source()
                              .interleave({})
                              .repeat()
                              .shuffle({.buffer_size = 10, .seed = 1})
                              .batch({.size = 8})
                              .parse(one_feature())
                              .take(3)
                              .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}});
  ASSERT_TRUE(dataset.status().ok()) << dataset.status().to_string();
  const auto ops = dataset.ops();
  ASSERT_EQ(ops.size(), 8U);
  EXPECT_EQ(ops[3].name, "shuffle");
  EXPECT_EQ(ops[3].arguments, "buffer_size=10,seed=1,reshuffle_each_iteration=1,mix_epochs=0");
  for (std::size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(ops[i].id, static_cast<int>(i));
}

struct BadStep {
  const char* name;
  std::function<Dataset()> make;
  std::vector<std::string> message;
};

class BadSteps : public testing::TestWithParam<BadStep> {};

TEST_P(BadSteps, AreRefusedAtTheStep) {
  const Dataset dataset = GetParam().make();
  ASSERT_FALSE(dataset.status().ok());
  EXPECT_EQ(dataset.status().code(), StatusCode::kInvalidArgument);
  for (const std::string& part : GetParam().message) {
    EXPECT_NE(dataset.status().message().find(part), std::string::npos) << dataset.status().message();
  }
  EXPECT_EQ(dataset.open().status().message(), dataset.status().message());
}

const BadStep kBadSteps[] = {
    {"NoFiles",
     [] {
       return TFRecordDataset({{}, true});
     },
     {"files is empty"}},
    {"BatchOfZero", [] { return source().batch({.size = 0}); }, {"batch_size=0", ">= 1"}},
    {"ShuffleOfZero", [] { return source().shuffle({.buffer_size = 0}); }, {"buffer_size=0", ">= 1"}},
    {"CycleOfZero", [] { return source().interleave({.cycle_length = 0}); }, {"cycle_length=0"}},
    {"BlockOfZero", [] { return source().interleave({.block_length = 0}); }, {"block_length=0"}},
    {"RepeatBelowMinusOne", [] { return source().repeat(-2); }, {"count=-2"}},
    {"ShardIndexTooLarge", [] { return source().shard(4, 4); }, {"index=4", "num_shards=4"}},
    {"ShardOfZero", [] { return source().shard(0, 0); }, {"num_shards=0"}},
    {"TakeBelowMinusOne", [] { return source().take(-2); }, {"count=-2"}},
    {"ParseBeforeBatch", [] { return source().parse(one_feature()); }, {"parse()", "batch()", "the order that works"}},
    {"ShuffleAfterBatch",
     [] { return source().batch({.size = 1}).shuffle({.buffer_size = 2}); },
     {"shuffle()", "before batch()", "the order that works"}},
    {"TwoBatches", [] { return source().batch({.size = 1}).batch({.size = 2}); }, {"batch() is there already"}},
    {"InterleaveLate", [] { return source().take(3).interleave({}); }, {"right behind the source", "take()"}},
    {"DeviceBeforeParse",
     [] { return source().batch({.size = 1}).prefetch_to_device({.devices = {"/CPU:0"}}); },
     {"prefetch_to_device()", "parse()"}},
    {"BehindDevice",
     [] {
       return source().batch({.size = 1}).parse(one_feature()).prefetch_to_device({.devices = {"/CPU:0"}}).take(1);
     },
     {"take()", "must be last"}},
    {"NoDevices",
     [] { return source().batch({.size = 1}).parse(one_feature()).prefetch_to_device({.devices = {}}); },
     {"devices is empty"}},
    {"DepthOfZero",
     [] {
       return source().batch({.size = 1}).parse(one_feature()).prefetch_to_device({.devices = {"/CPU:0"}, .depth = 0});
     },
     {"depth=0"}},
    {"NotDivisible",
     [] {
       return source()
           .batch({.size = 10})
           .parse(one_feature())
           .prefetch_to_device({.devices = {"/CPU:0", "/CPU:1", "/CPU:2", "/CPU:3"}});
     },
     {"10", "4", "8", "12"}},
    {"DeepCudaDevice",
     [] {
       return source().batch({.size = 1}).parse(one_feature()).prefetch_to_device({.devices = {"cuda:0"}, .depth = 41});
     },
     {"depth=41", "40"}},
    {"UnknownDevice",
     [] { return source().batch({.size = 1}).parse(one_feature()).prefetch_to_device({.devices = {"TPU:0"}}); },
     {"TPU:0"}},
    {"StreamVersion",
     [] {
       return TFRecordDataset({{"a"}, true}, {.stream_version = 2});
     },
     {"stream_version=2"}},
    {"Threads",
     [] {
       return TFRecordDataset({{"a"}, true}, {.num_threads = 0});
     },
     {"num_threads=0"}},
};

INSTANTIATE_TEST_SUITE_P(Dataset, BadSteps, testing::ValuesIn(kBadSteps),
                         [](const auto& instance) { return instance.param.name; });

TEST(Dataset, FirstFailureStays) {
  const Dataset dataset = source().batch({.size = 0}).shuffle({.buffer_size = 0});
  EXPECT_NE(dataset.status().message().find("batch_size=0"), std::string::npos);
}

TEST(Dataset, StepsDoNotChangeTheirInput) {
  const Dataset records = source();
  const Dataset batches = records.batch({.size = 2});
  EXPECT_EQ(records.ops().size(), 1U);
  EXPECT_EQ(batches.ops().size(), 2U);
}

TEST(Dataset, Cardinality) {
  EXPECT_EQ(source().batch({.size = 4}).cardinality(), std::nullopt);
  EXPECT_EQ(source().repeat().batch({.size = 4}).cardinality(), -1);
  EXPECT_EQ(source().repeat().batch({.size = 4}).epoch_cardinality(), std::nullopt);
  const Dataset known = source().assert_cardinality(10);
  EXPECT_EQ(known.cardinality(), 10);
  EXPECT_EQ(known.batch({.size = 4}).cardinality(), 3);
  EXPECT_EQ(known.batch({.size = 4, .drop_remainder = true}).cardinality(), 2);
  EXPECT_EQ(known.repeat(3).batch({.size = 4}).cardinality(), 8);
  EXPECT_EQ(known.batch({.size = 4}).repeat(3).cardinality(), 9);
  EXPECT_EQ(known.repeat().batch({.size = 4}).cardinality(), -1);
  EXPECT_EQ(known.repeat().batch({.size = 4}).epoch_cardinality(), 3);
  EXPECT_EQ(known.repeat().take(7).batch({.size = 4}).cardinality(), 2);
  EXPECT_EQ(known.shard(3, 0).cardinality(), 4);
  EXPECT_EQ(known.shard(3, 1).cardinality(), 3);
  EXPECT_EQ(known.skip(4).cardinality(), 6);
  EXPECT_EQ(known.skip(40).cardinality(), 0);
  EXPECT_EQ(known.take(-1).cardinality(), 10);
  EXPECT_EQ(known.repeat(0).cardinality(), 0);
  EXPECT_EQ(known.shuffle({.buffer_size = 3}).cardinality(), 10);
}

TEST(Dataset, SeedIsDrawnOnce) {
  const Dataset a = source().shuffle({.buffer_size = 3});
  const Dataset b = source().shuffle({.buffer_size = 3});
  EXPECT_EQ(a.ops()[1].arguments, a.batch({.size = 1}).ops()[1].arguments);
  EXPECT_NE(a.ops()[1].arguments, b.ops()[1].arguments);
}

}  // namespace
}  // namespace headrace

// on_mismatch="skip": the stream is that of the records that fit, at any number of threads, from any position.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "headrace/report.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using Ids = std::vector<std::int64_t>;
using Batches = std::vector<Ids>;

bool fits(std::int64_t id) { return id % 7 != 3; }

// The third kind of record that does not fit is no Example at all.
std::string misfit(std::int64_t id) {
  if (id % 3 == 0) return "\x0A\xFFno Example";
  const float wrong_kind = 1;
  ExampleBuilder builder;
  builder.add_int64("id", {&id, 1});
  if (id % 3 == 1) builder.add_float("s", {&wrong_kind, 1});
  return builder.build();
}

std::vector<std::string> write_mixed(const TemporaryFolder& folder, const std::vector<int>& sizes,
                                     std::size_t padding = 0) {
  std::vector<std::string> paths;
  std::int64_t id = 0;
  for (std::size_t shard = 0; shard < sizes.size(); ++shard) {
    std::vector<std::string> records;
    for (int i = 0; i < sizes[shard]; ++i, ++id) {
      records.push_back(fits(id) ? example(id) : misfit(id));
      if (padding == 0) continue;
      const std::string_view view(std::string_view("................"));
      const std::vector<std::string_view> many(padding / view.size(), view);
      records.back() += ExampleBuilder().add_bytes("padding", many).build();
    }
    paths.push_back(folder.file("shard-" + std::to_string(shard)));
    write_records(paths.back(), records);
  }
  return paths;
}

const ReadOptions kSkip{.on_mismatch = OnMismatch::kSkip};

ReadOptions skip_on(int threads) {
  ReadOptions options = kSkip;
  options.num_threads = threads;
  return options;
}

Batches cut(const Ids& ids, std::size_t size, bool drop_remainder = false) {
  Batches batches;
  for (const std::int64_t id : ids) {
    if (batches.empty() || batches.back().size() == size) batches.emplace_back();
    batches.back().push_back(id);
  }
  if (drop_remainder && !batches.empty() && batches.back().size() < size) batches.pop_back();
  return batches;
}

Ids fitting(std::int64_t begin, std::int64_t end) {
  Ids ids = range(begin, end);
  std::erase_if(ids, [](std::int64_t id) { return !fits(id); });
  return ids;
}

TEST(Misfits, TheNextRecordsTakeTheirPlace) {
  const TemporaryFolder folder;
  const Files files{write_mixed(folder, {100, 53}), true};
  for (const int threads : {1, 3}) {
    for (const std::int64_t size : {1, 8, 70, 500}) {
      for (const bool drop : {false, true}) {
        const Dataset dataset =
            TFRecordDataset(files, skip_on(threads)).batch({.size = size, .drop_remainder = drop}).parse(full_schema());
        const Delivered got = drain(dataset);
        EXPECT_TRUE(got.end.ok()) << got.end.to_string();
        EXPECT_EQ(got.batches, cut(fitting(0, 153), static_cast<std::size_t>(size), drop));
      }
    }
  }
}

TEST(Misfits, AreReportedOnceOverTheEpochs) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_mixed(folder, {20});
  Result<Pipeline> pipeline =
      TFRecordDataset({paths, true}, kSkip).repeat(3).batch({.size = 6}).parse(full_schema()).open();
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(drain(*pipeline).flat().size(), 3U * fitting(0, 20).size());
  const Report r = *report(*pipeline);
  ASSERT_EQ(r.skipped, 3);
  EXPECT_EQ(r.skipped_misfits, 3);
  ASSERT_EQ(r.skipped_regions.size(), 3U);
  std::int64_t offset = 0;
  for (std::int64_t id = 0; id < 3; ++id) offset += static_cast<std::int64_t>(example(id).size()) + 16;
  const SkippedRegion& first = r.skipped_regions[0];
  EXPECT_EQ(first.reason.code(), StatusCode::kSchemaMismatch);
  EXPECT_EQ(first.reason.where().path, paths[0]);
  EXPECT_EQ(first.reason.where().record, 3);
  EXPECT_EQ(first.reason.where().offset, offset);
  EXPECT_EQ(first.reason.where().row, -1);
  EXPECT_EQ(first.end, offset + static_cast<std::int64_t>(misfit(3).size()) + 16);
  EXPECT_EQ(first.records, 1);
  EXPECT_EQ(r.skipped_regions[1].reason.where().key, "x");
  EXPECT_EQ(r.skipped_regions[2].reason.where().record, 17);
}

TEST(Misfits, BehindAShuffleTheStreamIsThatOfTheRecordsThatFit) {
  const TemporaryFolder folder;
  const Files files{write_mixed(folder, {60, 41, 30}), true};
  const auto shuffled = [&](const ReadOptions& options) {
    return TFRecordDataset(files, options)
        .interleave({.cycle_length = 2})
        .repeat(2)
        .shuffle({.buffer_size = 20, .seed = 5});
  };
  // The order of all records, as they are.
  Result<Pipeline> raw = shuffled({}).batch({.size = 1}).open();
  ASSERT_TRUE(raw.ok());
  std::map<std::string, std::int64_t> id_of;
  for (std::int64_t id = 0; id < 131; ++id) {
    if (fits(id)) id_of[example(id)] = id;
  }
  Ids order;
  for (;;) {
    const auto batch = raw->next();
    ASSERT_TRUE(batch.ok());
    if (!*batch) break;
    const Column& column = (*batch)->replicas[0].columns[0];
    const auto* offsets = reinterpret_cast<const std::int64_t*>(column.byte_offsets.data);
    const std::string record(reinterpret_cast<const char*>(column.payload), static_cast<std::size_t>(offsets[1]));
    if (const auto found = id_of.find(record); found != id_of.end()) order.push_back(found->second);
  }
  for (const int threads : {1, 4}) {
    EXPECT_EQ(drain(shuffled(skip_on(threads)).batch({.size = 16}).parse(full_schema())).batches, cut(order, 16));
  }
}

Dataset resumable(const std::vector<std::string>& paths, int threads, bool views) {
  Schema schema = full_schema();
  schema.features[2].view = views;
  return TFRecordDataset({paths, true}, skip_on(threads))
      .interleave({.cycle_length = 3, .block_length = 2})
      .repeat(3)
      .shuffle({.buffer_size = 30, .seed = 9})
      .batch({.size = 10})
      .skip(1)
      .parse(schema);
}

TEST(Misfits, TheRestOfTheStreamFollowsFromEveryBatch) {
  const TemporaryFolder folder;
  for (const std::size_t padding : {0U, 9000U}) {  // large records are located and read by the parse
    const std::vector<std::string> paths = write_mixed(folder, {21, 0, 33, 17}, padding);
    for (const bool views : {false, true}) {
      const auto whole = drain(resumable(paths, 2, views)).batches;
      ASSERT_EQ(whole.size(), (3 * fitting(0, 71).size() + 9) / 10 - 1);
      for (std::size_t stop = 0; stop <= whole.size(); ++stop) {
        Result<Pipeline> first = resumable(paths, 2, views).open();
        ASSERT_TRUE(first.ok());
        EXPECT_EQ(drain(*first, stop).batches.size(), stop);
        const Result<Position> position = first->position();
        ASSERT_TRUE(position.ok()) << position.status().to_string();
        Result<Pipeline> second = resumable(paths, 1 + static_cast<int>(stop % 3), views).open(*position);
        ASSERT_TRUE(second.ok()) << second.status().to_string();
        const Batches rest(whole.begin() + static_cast<std::ptrdiff_t>(stop), whole.end());
        EXPECT_EQ(drain(*second).batches, rest) << "after batch " << stop;
      }
    }
  }
}

TEST(Misfits, ThePolicyIsPartOfThePosition) {
  const TemporaryFolder folder;
  const Files files{write_mixed(folder, {50}), true};
  const auto dataset = [&](const ReadOptions& options) {
    return TFRecordDataset(files, options).batch({.size = 2}).parse(full_schema());
  };
  Result<Pipeline> first = dataset(kSkip).open();
  ASSERT_TRUE(first.ok());
  drain(*first, 1);
  const Status refused = dataset({}).open(*first->position()).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("on_mismatch"), std::string::npos) << refused.to_string();
}

TEST(Misfits, TheLimitEndsTheStreamAtItsRecord) {
  const TemporaryFolder folder;
  const Files files{write_mixed(folder, {50}), true};  // 3, 10, 17, 24, … do not fit
  ReadOptions options = kSkip;
  options.max_skipped = 2;
  for (const int threads : {1, 4}) {
    options.num_threads = threads;
    for (const bool drop : {false, true}) {
      Result<Pipeline> pipeline =
          TFRecordDataset(files, options).batch({.size = 6, .drop_remainder = drop}).parse(full_schema()).open();
      ASSERT_TRUE(pipeline.ok());
      const Delivered got = drain(*pipeline);
      EXPECT_EQ(got.batches, cut(fitting(0, 17), 6, drop));
      EXPECT_EQ(got.end.code(), StatusCode::kSchemaMismatch);
      EXPECT_EQ(got.end.where().record, 17);
      EXPECT_NE(got.end.message().find("max_skipped = 2"), std::string::npos) << got.end.to_string();
      EXPECT_EQ(pipeline->next().status().to_string(), got.end.to_string());
      EXPECT_EQ(pipeline->position()->batches, 2) << "behind the last whole batch";
    }
  }
}

TEST(Misfits, AWrongSchemaIsAnErrorAtOnce) {
  const TemporaryFolder folder;
  const Files files{write_shards(folder, {99, 60}), true};
  Schema schema = id_schema();
  schema.features[0].dtype = DType::kBytes;
  for (const std::int64_t size : {1, 30, 500}) {
    const Delivered got = drain(TFRecordDataset(files, kSkip).batch({.size = size}).parse(schema));
    EXPECT_TRUE(got.batches.empty());
    EXPECT_EQ(got.end.code(), StatusCode::kSchemaMismatch);
    EXPECT_EQ(got.end.where().path, files.items[1]);
    EXPECT_EQ(got.end.where().record, 0);
    EXPECT_NE(got.end.message().find("none of the first 100 records fits the schema"), std::string::npos);
  }
  // Fewer than that are no proof.
  EXPECT_TRUE(drain(TFRecordDataset({{files.items[0]}, true}, kSkip).batch({.size = 7}).parse(schema)).end.ok());
}

TEST(Misfits, RowsThatDifferFromTheFirstOfTheirBatchAreLeftOut) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (std::int64_t id = 0; id < 12; ++id) {
    const std::string raw(id % 4 == 2 ? 8 : 12, '\0');
    const std::string_view view = raw;
    ExampleBuilder builder;
    if (id != 5) builder.add_int64("id", {&id, 1});
    records.push_back(builder.add_bytes("raw", {&view, 1}).build());
  }
  write_records(folder.file("a"), records);
  Schema schema = id_schema();
  Feature raw;
  raw.name = "raw";
  raw.kind = FeatureKind::kRaw;
  raw.shape = Shape{-1};
  raw.unknown_dims = UnknownDims::kEqual;
  schema.features.push_back(raw);
  for (const int threads : {1, 4}) {
    const Dataset dataset = TFRecordDataset({{folder.file("a")}, true}, skip_on(threads)).batch({.size = 4});
    const Delivered got = drain(dataset.parse(schema));
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    EXPECT_EQ(got.batches, (Batches{{0, 1, 3, 4}, {6, 10}}));
  }
}

TEST(Misfits, WhatAFilterCannotCompareIsLeftOut) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_mixed(folder, {30});
  Filter filter;
  filter.terms.push_back({.key = "s", .comparison = Comparison::kNotEqual, .operands = std::vector<std::string>{"4"}});
  filter.steps.push_back(FilterStep::kTerm);
  const auto filtered = [&](const ReadOptions& options) {
    return TFRecordDataset({paths, true}, options).filter(filter).batch({.size = 100}).parse(full_schema());
  };
  Ids expected = fitting(0, 30);
  std::erase(expected, 4);
  Result<Pipeline> pipeline = filtered(kSkip).open();
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ(drain(*pipeline).batches, Batches{expected});
  EXPECT_EQ(report(*pipeline)->skipped_misfits, 4);
  EXPECT_EQ(drain(filtered({})).end.code(), StatusCode::kSchemaMismatch);
}

TEST(Misfits, TheNumberOfBatchesIsNotKnown) {
  const TemporaryFolder folder;
  const Dataset source = TFRecordDataset({write_mixed(folder, {20}), true}, kSkip).assert_cardinality(20);
  EXPECT_EQ(source.cardinality(), 20);
  EXPECT_EQ(source.batch({.size = 4}).cardinality(), 5) << "nothing is parsed";
  EXPECT_EQ(source.batch({.size = 4}).parse(full_schema()).cardinality(), std::nullopt);
  EXPECT_TRUE(drain(source.batch({.size = 4}).parse(full_schema())).end.ok());
}

TEST(Misfits, DamageOfARecordStillEndsTheStream) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_mixed(folder, {40}, 9000);
  // The data of the last record, which is only located: found by the parse.
  std::fstream file(paths[0], std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-5, std::ios::end);
  file.put('!');
  file.close();
  const Delivered got = drain(TFRecordDataset({paths, true}, kSkip)
                                  .shuffle({.buffer_size = 2, .seed = 1})
                                  .batch({.size = 7})
                                  .parse(full_schema()));
  EXPECT_EQ(got.end.code(), StatusCode::kDataLoss);
  EXPECT_EQ(got.end.where().record, 39);
  // A shuffle of two may leave one record behind the damaged one.
  EXPECT_GE(got.flat().size() + 1, fitting(0, 39).size());
  for (const std::int64_t id : got.flat()) EXPECT_TRUE(fits(id) && id != 39);
}

}  // namespace
}  // namespace headrace

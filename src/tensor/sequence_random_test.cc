// SequenceExamples made at random: the usual form and the careful way agree, and damaged ones fail or parse, no more.
#include <gtest/gtest.h>

#include <random>

#include "tensor/parse_testing.h"

namespace headrace::testing {
namespace {

using Random = std::mt19937;

std::int64_t draw(Random& random, std::int64_t below) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
}

// A packed Int64List of `count` values of any size.
std::string random_ints(Random& random, std::int64_t count) {
  std::string packed;
  for (std::int64_t i = 0; i < count; ++i)
    packed += varint((std::uint64_t{random()} << 32 | random()) >> draw(random, 64));
  return field(1, packed);
}

std::string context_of(std::int64_t id) {
  return field(1, list_entry("id", field(3, int_list({id}))) + list_entry("tags", field(1, bytes_list({"a", "bc"}))));
}

// The entries of the feature lists of one record: dense "q" (two integers a step), ragged "v" with row lengths "p", "s" of
// strings.
std::string random_lists(Random& random) {
  std::string q;
  std::string v;
  std::string p;
  std::string s;
  for (std::int64_t i = draw(random, 5); i > 0; --i) q += step(ListKind::kInt64, random_ints(random, 2));
  for (std::int64_t i = draw(random, 5); i > 0; --i) {
    const std::int64_t first = draw(random, 4);
    const std::int64_t second = draw(random, 4);
    v += step(ListKind::kInt64, random_ints(random, first + second));
    p += int_step({first, second});
  }
  for (std::int64_t i = draw(random, 5); i > 0; --i) {
    s += bytes_step({std::string(static_cast<std::size_t>(draw(random, 20)), 'x'), ""});
  }
  return list_entry("q", q) + list_entry("other", q) + list_entry("v", v) + list_entry("p", p) + list_entry("s", s);
}

Schema rich_schema() {
  Feature length = in_list(list_of(FeatureKind::kListLength, "q_lengths", DType::kInt64));
  length.key = "q";
  Feature ragged = in_list(list_of(FeatureKind::kRagged, "v", DType::kInt64));
  ragged.partitions = {{.kind = PartitionKind::kRowLengths, .key = "p"}};
  Feature ids = in_list(list_of(FeatureKind::kRagged, "s", DType::kBytes));
  return {.features = {with_default<std::int64_t>(fixed("id", DType::kInt64), {3}),
                       list_of(FeatureKind::kVarLen, "tags", DType::kBytes),
                       in_list(list_of(FeatureKind::kFixedLenSequence, "q", DType::kInt64, {2})), length, ragged, ids},
          .sequence = true};
}

std::vector<std::int64_t> everything(const Slice& slice) {
  std::vector<std::int64_t> all;
  for (const Column& column : slice.columns) {
    if (column.values.dtype == DType::kInt64) {
      for (const std::int64_t value : values_of<std::int64_t>(column.values)) all.push_back(value);
    } else {
      for (const std::string& text : strings_of(column)) all.push_back(static_cast<std::int64_t>(text.size()));
    }
    for (std::size_t d = 0; d < column.row_splits.size(); ++d) {
      for (const std::int64_t split : splits_of(column, d)) all.push_back(split);
    }
  }
  return all;
}

TEST(RandomSequences, TheCarefulWayGivesTheSame) {
  Random random(11);
  std::vector<std::string> usual;
  std::vector<std::string> careful;
  for (int i = 0; i < 500; ++i) {
    const std::string lists = random_lists(random);
    usual.push_back(context_of(i) + feature_lists(lists));
    careful.push_back(feature_lists(lists) + context_of(i) + field(9, "unknown"));
  }
  const auto first = parse(rich_schema(), usual, {500});
  const auto second = parse(rich_schema(), careful, {500});
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(everything(first->at(0)), everything(second->at(0)));
}

TEST(RandomSequences, DamagedOnesFailOrParse) {
  Random random(12);
  const Schema schema = rich_schema();
  int parsed = 0;
  int failed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string record = context_of(i) + feature_lists(random_lists(random));
    for (std::int64_t changes = 1 + draw(random, 2); changes > 0 && !record.empty(); --changes) {
      const auto at = static_cast<std::size_t>(draw(random, static_cast<std::int64_t>(record.size())));
      switch (draw(random, 4)) {
        case 0:
          record[at] = static_cast<char>(random());
          break;
        case 1:
          record.erase(at, static_cast<std::size_t>(1 + draw(random, 5)));
          break;
        case 2:
          record.insert(at, 1, static_cast<char>(random()));
          break;
        default:
          record.resize(at);
      }
    }
    const auto slices = parse(schema, {record, record}, {1, 1});
    if (slices.ok()) {
      ++parsed;
    } else {
      EXPECT_EQ(slices.status().code(), StatusCode::kSchemaMismatch) << slices.status().to_string();
      ++failed;
    }
  }
  EXPECT_GT(parsed, 1000);
  EXPECT_GT(failed, 1000);
}

}  // namespace
}  // namespace headrace::testing

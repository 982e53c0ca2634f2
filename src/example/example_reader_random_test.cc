// ExampleReader against SlowExampleReader: the same answer for any bytes, whatever was read before.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "example/example_reader.h"
#include "example/example_reader_slow.h"
#include "example/wire_test_bytes.h"

namespace headrace {
namespace {

using namespace test;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : key_(random_key(seed, 0)) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_below(key_, counter_++, n)); }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

const std::vector<std::string> kKeys = {
    "label", "I1",    "I2", "C1", "C22", "a_key_of_27_bytes_fits_whole", "a_key_of_more_than_32_bytes_is_looked_up",
    "",      "image", "x"};

std::string random_feature(Draw* draw) {
  switch (draw->below(8)) {
    case 0:
      return bytes_field(2, bytes_field(1, raw<float>({1.5F})));
    case 1:
      return bytes_field(1, bytes_field(1, std::string(draw->below(300), 'i')));
    case 2:
      return draw->below(4) == 0 ? "" : bytes_field(1 + draw->below(3), "");
    case 3:
      return int64_feature(std::vector<std::uint64_t>(draw->below(100), 300));
    default:
      return int64_feature({draw->below(2) == 0 ? draw->below(100) : draw->below(1000000)});
  }
}

// A feature in a form that the fast ways hand over.
std::string unusual_feature(Draw* draw) {
  switch (draw->below(4)) {
    case 0:
      return int64_feature({1}) + int64_feature({2, 3});
    case 1:
      return int64_feature({1}) + bytes_field(2, "");
    case 2:
      return varint_field(9, 1) + int64_feature({4});
    default:
      return std::string("\x1A\x7F\x01", 3);
  }
}

// Entries for the keys in `order`, in that order; some are left out, doubled, unknown or unusual.
std::string random_record(const std::vector<std::size_t>& order, Draw* draw, bool is_usual) {
  std::string entries;
  for (const std::size_t index : order) {
    const std::size_t what = is_usual ? 2 + draw->below(30) : draw->below(32);
    if (what == 0) {
      entries += entry(kKeys[index], unusual_feature(draw));
    } else if (what == 1) {
      entries += bytes_field(1, bytes_field(2, random_feature(draw)) + bytes_field(1, kKeys[index]));
    } else if (what != 2) {
      entries += entry(kKeys[index], random_feature(draw));
    }
    if (what == 3) entries += entry(kKeys[index], random_feature(draw));
    if (what == 4) entries += entry("nobody asks", draw->below(2) == 0 ? random_feature(draw) : "\xFF\xFF");
  }
  return example(entries);
}

void damage(std::string* record, Draw* draw) {
  if (record->empty()) return;
  const std::size_t at = draw->below(record->size());
  switch (draw->below(4)) {
    case 0:
      (*record)[at] = static_cast<char>((*record)[at] ^ (1 << draw->below(8)));
      break;
    case 1:
      record->resize(at);
      break;
    case 2:
      record->erase(at, 1 + draw->below(3));
      break;
    default:
      record->insert(at, 1 + draw->below(3), static_cast<char>(draw->below(256)));
  }
}

// Reads records with both readers, keeping the fast one's memory from record to record.
class Pair {
 public:
  void expect_same(const std::string& record, std::uint8_t padding) {
    const Padded padded(record, padding);
    std::vector<FeatureView> fast(keys_->size());
    std::vector<FeatureView> slow(keys_->size());
    const Status fast_status = fast_.read(padded.bytes(), fast);
    const Status slow_status = slow_.read(padded.bytes(), slow);
    ASSERT_EQ(fast_status.to_string(), slow_status.to_string());
    ASSERT_EQ(fast_.saw_feature_lists(), slow_.saw_feature_lists());
    if (!slow_status.ok()) return;
    ++good_;
    for (std::size_t i = 0; i < keys_->size(); ++i) {
      ASSERT_EQ(fast[i].kind, slow[i].kind) << i;
      if (slow[i].kind == ListKind::kAbsent) continue;
      ASSERT_EQ(fast[i].size, slow[i].size) << i;
      ASSERT_TRUE(std::equal(fast[i].data, fast[i].data + fast[i].size, slow[i].data)) << i;
    }
  }
  int good() const { return good_; }

 private:
  const std::shared_ptr<const KeySet> keys_ =
      std::make_shared<KeySet>(std::vector<std::string>(kKeys.begin(), kKeys.end() - 1));
  ExampleReader fast_{keys_};
  SlowExampleReader slow_{keys_};
  int good_ = 0;
};

std::vector<std::size_t> random_order(Draw* draw) {
  std::vector<std::size_t> order(kKeys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[draw->below(i + 1)]);
  return order;
}

TEST(ExampleReaderRandom, FewOrders) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Draw draw(seed);
    Pair pair;
    std::vector<std::vector<std::size_t>> orders;
    for (std::uint64_t i = 0; i <= seed; ++i) orders.push_back(random_order(&draw));
    for (int i = 0; i < 300; ++i) {
      pair.expect_same(random_record(orders[draw.below(orders.size())], &draw, i % 3 != 0), 0xFF);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(pair.good(), 200);
  }
}

TEST(ExampleReaderRandom, NewOrdersUntilGuessingIsOffAndOnAgain) {
  Draw draw(100);
  Pair pair;
  const std::vector<std::size_t> steady = random_order(&draw);
  for (int i = 0; i < 10000; ++i) {
    pair.expect_same(random_record(i % 5000 < 100 ? random_order(&draw) : steady, &draw, true), 0x0A);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(pair.good(), 10000);
}

TEST(ExampleReaderRandom, DamagedRecords) {
  Draw draw(200);
  Pair pair;
  const std::vector<std::size_t> order = random_order(&draw);
  constexpr int kRecords = 30000;
  for (int i = 0; i < kRecords; ++i) {
    std::string record = random_record(order, &draw, i % 2 == 0);
    for (std::size_t times = draw.below(4); times > 0; --times) damage(&record, &draw);
    pair.expect_same(record, static_cast<std::uint8_t>(i % 3 == 0 ? 0x00 : 0x0A));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(pair.good(), kRecords / 5);
  EXPECT_LT(pair.good(), kRecords * 4 / 5);
}

// Damage that keeps the sizes, so that the walk goes on behind it.
TEST(ExampleReaderRandom, EveryByteOfARecordChanged) {
  Draw draw(300);
  const std::vector<std::size_t> order = random_order(&draw);
  const std::string record = random_record(order, &draw, true);
  Pair pair;
  for (int i = 0; i < 3; ++i) pair.expect_same(record, 0xFF);
  for (std::size_t at = 0; at < std::min<std::size_t>(record.size(), 250); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = record;
      changed[at] = static_cast<char>(value);
      pair.expect_same(changed, 0x12);
      if (HasFatalFailure()) return;
    }
  }
}

// The last entry reaches beyond the features although all sizes in it agree.
TEST(ExampleReaderRandom, ExpectedEntriesMayBeCut) {
  const std::string entries =
      entry("label", int64_feature({1})) + entry("C1", int64_feature(std::vector<std::uint64_t>(50, 300)));
  Pair pair;
  for (int i = 0; i < 3; ++i) pair.expect_same(example(entries), 0xFF);
  for (std::size_t size = 0; size < entries.size(); ++size) {
    pair.expect_same(example(std::string_view(entries).substr(0, size)), 0x00);
    pair.expect_same(example(std::string_view(entries).substr(0, size)) + varint_field(7, 1), 0x01);
  }
}

// With sizes of two bytes these bytes hold another key; read as sizes of one byte they are the expected entry.
TEST(ExampleReaderRandom, SizesOfTwoBytesAreNotTakenForSizesOfOne) {
  const std::string short_key = "abcdefghi";
  const std::string long_key = "\x09" + short_key;
  const auto keys = std::make_shared<KeySet>(std::vector<std::string>{short_key, long_key});
  ExampleReader reader(keys);
  std::vector<FeatureView> views(2);
  const Padded expected(example(entry(long_key, bytes_field(1, bytes_field(1, "x")))));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader.read(expected.bytes(), views).ok());
  EXPECT_EQ(views[1].kind, ListKind::kBytes);

  constexpr std::size_t kValueBytes = 0x04 + (0x0A << 7);
  std::string rest =
      entry("sixkey", "");  // what follows the entry of the wrong reading, up to the end of the right one
  while (rest.size() < 1153) rest += entry("x", "");
  const std::string content = std::string(kValueBytes - 4 - rest.size(), '\0') + rest;
  const std::string unknown_field = "\x82\x01" + varint(content.size()) + content;
  const std::string ambiguous = entry(short_key, unknown_field);
  ASSERT_EQ(ambiguous.substr(0, 4), "\x0A\x92\x0A\x0A");
  ASSERT_EQ(ambiguous.substr(4, long_key.size() + 4), long_key + "\x12\x84\x0A\x82");
  ASSERT_TRUE(reader.read(Padded(example(ambiguous)).bytes(), views).ok());
  EXPECT_EQ(views[0].kind, ListKind::kAbsent);
  EXPECT_EQ(views[1].kind, ListKind::kAbsent);
}

}  // namespace
}  // namespace headrace

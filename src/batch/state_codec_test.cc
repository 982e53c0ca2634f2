#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/random.h"
#include "batch/position_journal.h"
#include "batch/stages.h"
#include "support/fake_source.h"

namespace headrace::testing {
namespace {

bool same(const RecordId& a, const RecordId& b) {
  return a.shard == b.shard && a.ordinal == b.ordinal && a.offset == b.offset;
}

void expect_round_trip(const DecodedState& state) {
  const Result<DecodedState> decoded = decode_state(encode_state(state));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->words, state.words);
  ASSERT_EQ(decoded->slots.size(), state.slots.size());
  for (const auto& [stage, ids] : state.slots) {
    const auto found = decoded->slots.find(stage);
    ASSERT_NE(found, decoded->slots.end());
    ASSERT_EQ(found->second.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_TRUE(same(found->second[i], ids[i])) << "slot " << i;
  }
}

/// A shuffle buffer of `count` records out of `shards` interleaved shards, records of `mean` bytes on average.
DecodedState buffer_of(std::size_t count, std::uint32_t shards, std::uint64_t mean, bool fixed_size) {
  DecodedState state{.words = {0, 1, 2, 3}};
  std::vector<std::uint64_t> ordinals(shards, 0);
  std::vector<std::uint64_t> offsets(shards, 0);
  std::vector<RecordId>& ids = state.slots[3];
  for (std::uint64_t read = 0; ids.size() < count; ++read) {
    const auto shard = static_cast<std::uint32_t>(random_below(1, read, shards));
    // About one of two records read is still there.
    if (read > 1000 && random_below(2, read, 2) == 0) {
      ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(random_below(3, read, ids.size() + 1)),
                 {shard, ordinals[shard], offsets[shard]});
    }
    ++ordinals[shard];
    offsets[shard] += 16 + (fixed_size ? mean : mean / 2 + random_below(4, read, mean));
  }
  return state;
}

TEST(StateCodec, RoundTrips) {
  expect_round_trip({});
  expect_round_trip({.words = {0, 1, 127, 128, 1ULL << 32, UINT64_MAX}});
  expect_round_trip({.words = {}, .slots = {{0, {}}, {7, {{0, 0, 0}}}, {UINT32_MAX, {{3, 4, 500}, {3, 4, 500}}}}});
  expect_round_trip(
      {.slots = {{1, {{kEndOfSlots - 1, UINT64_MAX, UINT64_MAX}, {0, UINT64_MAX, 0}, {5, 0, UINT64_MAX}}}}});
  for (const std::size_t count : {1, 2, 3, 4, 5, 8, 9, 100}) expect_round_trip(buffer_of(count, 3, 1000, false));
}

TEST(StateCodec, ABufferedRecordCostsAtMostEightCharacters) {
  for (const std::size_t count : {2000, 20000}) {
    for (const std::uint32_t shards : {1, 16}) {
      for (const std::uint64_t mean : {100, 12312, 110000}) {
        for (const bool fixed_size : {true, false}) {
          const DecodedState state = buffer_of(count, shards, mean, fixed_size);
          expect_round_trip(state);
          EXPECT_LE(encode_state(state).size(), 8 * count + 4096)
              << count << " records of " << shards << " shards, " << mean << " bytes each";
        }
      }
    }
  }
}

TEST(StateCodec, RefusesWhatIsNotAState) {
  const std::string good = encode_state(buffer_of(20, 3, 1000, false));
  ASSERT_TRUE(decode_state(good).ok());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_EQ(decode_state(good.substr(0, length)).status().code(), StatusCode::kInvalidArgument) << length;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'A', '/', '=', '-', '\0'}) {
      std::string bad = good;
      if (bad[i] == c) continue;
      bad[i] = c;
      EXPECT_FALSE(decode_state(bad).ok()) << i << " " << c;
    }
  }
}

std::string base64_of(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = (bits << 8) | byte;
    for (held += 8; held >= 6; held -= 6) text += kDigits[(bits >> (held - 6)) & 63U];
  }
  if (held > 0) text += kDigits[(bits << (6 - held)) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

/// A text with a right checksum over any bytes.
Result<DecodedState> decode_bytes(std::vector<std::uint8_t> bytes) {
  const std::uint32_t crc = crc32c(bytes.data(), bytes.size());
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(crc >> (8 * i)));
  return decode_state(base64_of(bytes));
}

TEST(StateCodec, HostileBytesAreRefusedOrReadWithinBounds) {
  // format, 2 words, 1 stage: id 5, 3 records: shard 1 with 3, (2, 40) (1, 0) (4, 1), permutation 2 0 1.
  const std::vector<std::uint8_t> good = {1, 2, 9, 8, 1, 5, 3, 1, 3, 2, 40, 1, 0, 4, 1, 0b010010, 0};
  ASSERT_FALSE(decode_bytes(good).ok()) << "one byte too many";
  ASSERT_TRUE(decode_bytes({good.begin(), good.end() - 1}).ok());
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    EXPECT_FALSE(decode_bytes({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}).ok()) << length;
  }
  EXPECT_FALSE(decode_bytes({2, 0, 0}).ok()) << "another format";
  EXPECT_FALSE(decode_bytes({1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0}).ok()) << "2^63 words";
  EXPECT_FALSE(decode_bytes({1, 0, 1, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0}).ok()) << "records";
  EXPECT_FALSE(decode_bytes({1, 0, 2, 5, 0, 5, 0}).ok()) << "a stage twice";
  EXPECT_FALSE(decode_bytes({1, 0, 1, 5, 2, 0, 2, 0, 0, 1, 0, 0b00}).ok()) << "a slot twice";
  EXPECT_FALSE(decode_bytes({1, 0, 1, 5, 3, 0, 3, 0, 0, 1, 0, 1, 0, 0b110100}).ok()) << "a slot beyond the end";

  std::uint64_t accepted = 0;
  for (std::uint64_t round = 0; round < 50000; ++round) {
    std::vector<std::uint8_t> bytes(good.begin(), good.end() - 1);
    for (std::uint64_t i = 0; i <= random_below(1, round, 3); ++i) {
      bytes[random_below(2 + i, round, bytes.size())] = static_cast<std::uint8_t>(random_below(9 + i, round, 256));
    }
    const Result<DecodedState> decoded = decode_bytes(bytes);
    if (!decoded.ok()) continue;
    ++accepted;
    expect_round_trip(*decoded);
  }
  EXPECT_GT(accepted, 250U);
}

/// batch(3) of shuffle(5, seed 42) over 3 epochs of 11 records in 2 shards.
struct GoldenChain {
  static constexpr FakeSourceOptions kSource{.records = 11, .shards = 2};

  GoldenChain() : fetcher(make_fake_fetcher(&blocks, kSource)) {
    auto shuffled = make_shuffle({.op_id = 2, .blocks = &blocks}, make_fake_source(&blocks, kSource),
                                 {.buffer_size = 5, .seed = 42, .epochs = 3});
    stage = make_batch({.op_id = 3, .blocks = &blocks}, std::move(shuffled), 3, false);
  }

  std::vector<std::vector<std::int64_t>> rest(DecodedState* state = nullptr, int limit = 100) {
    std::vector<std::vector<std::int64_t>> batches;
    for (; limit > 0; --limit) {
      auto batch = stage->pull({});
      if (!batch.ok() || !batch->has_value()) break;
      batches.emplace_back();
      for (const RecordRun& run : (*batch)->runs) {
        for (std::uint32_t i = 0; i < run.count; ++i) batches.back().push_back(fake_number(record_id(run, i), 2));
      }
      if (state != nullptr) apply((*batch)->state, state);
      blocks.release((*batch)->runs);
    }
    return batches;
  }

  BlockPool blocks;
  std::unique_ptr<RecordFetcher> fetcher;
  std::unique_ptr<BatchStage> stage;
};

TEST(StateCodec, FormatV1IsFrozen) {
  const std::string golden = "AQwCAQABAgcBBAQFAAYBAgUABAAAAAADlAICYAEBA4gDoQbmHPho";
  const std::vector<std::vector<std::int64_t>> known = {{7, 10, 6}, {0, 2, 3}, {4, 5, 1}, {8, 6, 0}, {7, 9, 10}};

  GoldenChain written;
  written.stage->begin_epoch(0);
  DecodedState state;
  written.rest(&state, 6);
  EXPECT_EQ(encode_state(state), golden) << "this format is in files of users: a change needs another number";

  const Result<DecodedState> decoded = decode_state(golden);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  GoldenChain continued;
  StateReader reader(decoded->words, &decoded->slots);
  ASSERT_TRUE(continued.stage->restore(&reader, continued.fetcher.get()).ok());
  EXPECT_EQ(continued.rest(), known);
}

}  // namespace
}  // namespace headrace::testing

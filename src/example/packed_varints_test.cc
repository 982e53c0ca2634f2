#include "example/packed_varints.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "example/wire_test_bytes.h"

namespace headrace {
namespace {

using test::Padded;

// Numbers below `n`, the same in every run.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : key_(random_key(seed, 0)) {}
  std::uint64_t below(std::uint64_t n) { return random_below(key_, counter_++, n); }
  std::uint64_t bits(unsigned n) { return n == 0 ? 0 : random_u64(key_, counter_++) >> (64 - n); }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

void expect_same_as_scalar(const std::string& bytes, std::uint8_t padding) {
  const Padded padded(bytes, padding);
  const std::uint8_t* data = padded.bytes().data();
  const std::int64_t count = count_packed_varints(data, bytes.size());
  ASSERT_EQ(count, count_packed_varints_scalar(data, bytes.size()));
  if (count < 0) return;
  std::vector<std::int64_t> fast(static_cast<std::size_t>(count));
  std::vector<std::int64_t> scalar(fast.size());
  decode_packed_varints(data, bytes.size(), fast.data(), count);
  decode_packed_varints_scalar(data, bytes.size(), scalar.data(), count);
  ASSERT_EQ(fast, scalar);
  const std::int64_t part = count / 3;
  std::vector<std::int64_t> front(static_cast<std::size_t>(part));
  decode_packed_varints(data, bytes.size(), front.data(), part);
  ASSERT_TRUE(std::equal(front.begin(), front.end(), scalar.begin()));
}

TEST(PackedVarints, ValidRunsOfAllLengthsAgreeWithTheScalarTwin) {
  Draw draw(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t values = draw.below(200);
    const auto max_bits = static_cast<unsigned>(1 + draw.below(64));
    std::string bytes;
    for (std::uint64_t i = 0; i < values; ++i) {
      const bool is_wide = draw.below(10) == 0;
      bytes += test::varint(draw.bits(static_cast<unsigned>(draw.below((is_wide ? 64 : max_bits) + 1))));
    }
    expect_same_as_scalar(bytes, round % 2 == 0 ? 0x00 : 0xFF);
  }
}

TEST(PackedVarints, AnyBytesAgreeWithTheScalarTwin) {
  Draw draw(2);
  int malformed = 0;
  for (int round = 0; round < 20000; ++round) {
    // One byte in `rarity` ends a varint: runs longer than a varint may be are frequent.
    const std::uint64_t rarity = 1 + draw.below(8);
    std::string bytes(draw.below(180), '\0');
    for (char& byte : bytes) byte = static_cast<char>(draw.bits(7) | (draw.below(rarity) == 0 ? 0 : 0x80));
    if (!bytes.empty() && draw.below(4) != 0) bytes.back() &= 0x7F;
    expect_same_as_scalar(bytes, 0x80);
    if (count_packed_varints(Padded(bytes).bytes().data(), bytes.size()) < 0) ++malformed;
  }
  EXPECT_GT(malformed, 2000);
  EXPECT_LT(malformed, 18000);
}

TEST(PackedVarints, TheLongestVarintAtEveryPlaceOfABlock) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (const std::size_t continued : {7, 8, 9, 10, 11}) {
      expect_same_as_scalar(
          std::string(before, '\x05') + std::string(continued, '\xFE') + "\x01" + std::string(70, '\x07'), 0xFF);
    }
  }
}

}  // namespace
}  // namespace headrace

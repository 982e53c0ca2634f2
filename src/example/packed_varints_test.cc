#include "example/packed_varints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/cpu.h"
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

struct Kernel {
  const char* name;
  VarintKernel run;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> all = {{"chosen", decode_packed_varints}, {"baseline", decode_packed_varints_baseline}};
  if (cpu_features().avx2 && cpu_features().bmi2) all.push_back({"bmi2", packed_varints_bmi2_kernel()});
  return all;
}

// The first values, as many as there is room for; nothing is written behind the room.
std::vector<std::int64_t> decoded(VarintKernel run, const Padded& padded, std::int64_t capacity, std::int64_t count) {
  constexpr std::int64_t kUntouched = 0x5A5A5A5A5A5A5A5A;
  std::vector<std::int64_t> out(static_cast<std::size_t>(capacity) + 1, kUntouched);
  EXPECT_EQ(run(padded.bytes().data(), padded.bytes().size(), out.data(), capacity), count);
  EXPECT_EQ(out.back(), kUntouched);
  out.resize(static_cast<std::size_t>(std::min(capacity, count)));
  return out;
}

void expect_same_as_scalar(const std::string& bytes, std::uint8_t padding) {
  const Padded padded(bytes, padding);
  const std::int64_t count = decode_packed_varints_scalar(padded.bytes().data(), bytes.size(), nullptr, 0);
  for (const Kernel& kernel : kernels()) {
    SCOPED_TRACE(kernel.name);
    ASSERT_EQ(kernel.run(padded.bytes().data(), bytes.size(), nullptr, 0), count);
    if (count < 0) {
      std::vector<std::int64_t> out(bytes.size());
      const auto capacity = static_cast<std::int64_t>(out.size());
      ASSERT_EQ(kernel.run(padded.bytes().data(), bytes.size(), out.data(), capacity), -1);
      continue;
    }
    for (const std::int64_t capacity : {count, count / 3, count - count / 7, count + 20}) {
      ASSERT_EQ(decoded(kernel.run, padded, capacity, count),
                decoded(decode_packed_varints_scalar, padded, capacity, count))
          << capacity << " of " << count;
    }
  }
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

TEST(PackedVarints, ShortRunsOfOneAndTwoBytesAgreeWithTheScalarTwin) {
  Draw draw(3);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t pairs_in_8 = draw.below(9);
    const std::uint64_t values = draw.below(400);
    std::string bytes;
    for (std::uint64_t i = 0; i < values; ++i) {
      // Also two bytes for what needs one.
      if (draw.below(8) < pairs_in_8) bytes += static_cast<char>(0x80 | draw.bits(7));
      bytes += static_cast<char>(draw.bits(7));
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
    for (const std::size_t continued : {1, 2, 3, 7, 8, 9, 10, 11}) {
      expect_same_as_scalar(
          std::string(before, '\x05') + std::string(continued, '\xFE') + "\x01" + std::string(70, '\x07'), 0xFF);
    }
  }
}

}  // namespace
}  // namespace headrace

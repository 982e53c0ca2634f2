#include "tensor/copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace {
namespace {

TEST(CopyStreaming, SameAsItsScalarTwin) {
  std::vector<std::uint8_t> source(20'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
  for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 4095, 4096, 4097, 12288, 12345}) {
    for (const std::size_t to_offset : {0, 1, 16, 63}) {
      for (const std::size_t from_offset : {0, 3, 32}) {
        std::vector<std::uint8_t> plain(20'000, 0xEE);
        std::vector<std::uint8_t> streamed = plain;
        copy_plain(plain.data() + to_offset, source.data() + from_offset, bytes);
        copy_streaming(streamed.data() + to_offset, source.data() + from_offset, bytes);
        ASSERT_EQ(plain, streamed) << bytes << " bytes to offset " << to_offset << " from " << from_offset;
        for (const std::int64_t in_flight : {std::int64_t{0}, std::int64_t{1} << 40}) {
          streamed.assign(streamed.size(), 0xEE);
          CopyMode(in_flight).copy(streamed.data() + to_offset, source.data() + from_offset, bytes);
          ASSERT_EQ(plain, streamed);
        }
      }
    }
  }
}

TEST(CopyMode, StreamsWhenTheBatchesInFlightDoNotFitHalfTheCache) {
  EXPECT_FALSE(CopyMode().streams());
  EXPECT_FALSE(CopyMode(kCachedBytes).streams());
  EXPECT_TRUE(CopyMode(kCachedBytes + 1).streams());
}

}  // namespace
}  // namespace headrace

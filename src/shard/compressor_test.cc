// Every format: what a Compressor writes is what a shard of that format gives; members, cuts and damage of zstd and snappy.
#include "shard/compressor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/checksum.h"
#include "base/random.h"
#include "base/wire.h"
#include "shard/content.h"
#include "shard/snappy_frames.h"

namespace headrace {
namespace {

using namespace std::string_literals;

// Text that shrinks about by half.
std::string sample(std::size_t bytes, std::uint64_t seed = 1) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>('a' + random_below(seed, i, 13));
  return data;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string pack(const std::string& data, Compression format, std::size_t step = SIZE_MAX,
                 std::optional<int> level = std::nullopt) {
  const auto compressor = make_compressor(format, level);
  EXPECT_TRUE(compressor.ok()) << compressor.status().to_string();
  std::string packed;
  const auto write = [&packed](std::span<const std::uint8_t> bytes) {
    packed.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status();
  };
  for (std::size_t i = 0; i < data.size(); i += std::min(step, data.size() - i)) {
    EXPECT_TRUE((*compressor)->run(bytes_of(std::string_view(data).substr(i, step)), false, write).ok());
  }
  EXPECT_TRUE((*compressor)->run({}, true, write).ok());
  return packed;
}

struct Unpacked {
  std::string data;
  Status failure;
  Compression found = Compression::kAuto;
};

class Formats : public ::testing::TestWithParam<Compression> {
 protected:
  Formats() : path_((std::filesystem::temp_directory_path() / "headrace-formats-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) ::close(descriptor);
  }
  ~Formats() override { std::filesystem::remove(path_); }
  void SetUp() override {
    if (!has_compression(GetParam())) GTEST_SKIP() << "built without " << compression_name(GetParam());
  }

  Unpacked unpack(const std::string& file, std::size_t step = 10'000) const {
    std::filesystem::remove(path_);  // some file systems sync a file that is cut and written again
    std::ofstream(path_, std::ios::binary) << file;
    const auto source = open_byte_source({.path = path_}, Compression::kAuto);
    EXPECT_TRUE(source.ok()) << source.status().to_string();
    Unpacked all;
    all.found = (*source)->compression();
    std::string buffer(step, '\0');
    for (;;) {
      const auto n = (*source)->read(reinterpret_cast<std::uint8_t*>(buffer.data()), step);
      if (!n.ok()) all.failure = n.status();
      if (!n.ok() || *n == 0) return all;
      all.data.append(buffer, 0, *n);
    }
  }

  std::string path_;
};

TEST_P(Formats, WhatIsWrittenIsReadAndFoundByContent) {
  for (const std::size_t size : {1U, 12U, 65'535U, 65'536U, 65'537U, 700'000U}) {
    const std::string data = sample(size);
    for (const std::size_t step : {7'777U, 262'144U, 1'000'000U}) {
      const Unpacked all = unpack(pack(data, GetParam(), step), step);
      EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
      EXPECT_EQ(all.found, GetParam());
      EXPECT_TRUE(all.data == data);
    }
  }
  EXPECT_EQ(unpack(pack("tiny", GetParam()), 1).data, "tiny");
  EXPECT_EQ(unpack(pack("", GetParam())).data, "");
}

TEST_P(Formats, NoiseGrowsByLittle) {
  std::string noise(300'000, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(random_below(3, i, 256));
  const std::string packed = pack(noise, GetParam());
  EXPECT_LT(packed.size(), noise.size() + 1000);
  EXPECT_TRUE(unpack(packed).data == noise);
}

TEST_P(Formats, MembersFollowEachOther) {
  const std::string a = sample(200'000, 1);
  const std::string b = sample(10, 2);
  const Compression format = GetParam();
  const Unpacked all = unpack(pack("", format) + pack(a, format) + pack("", format) + pack(b, format));
  EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
  EXPECT_TRUE(all.data == a + b);
}

TEST_P(Formats, ACutGivesACorrectPrefixAndIsALoss) {
  const std::string data = sample(3000);
  const std::string packed = pack(data, GetParam());
  // A snappy stream may end behind its first chunk, which holds nothing.
  for (std::size_t size = kSnappyStart.size() + 1; size < packed.size(); ++size) {
    const Unpacked all = unpack(packed.substr(0, size));
    ASSERT_EQ(all.failure.code(), StatusCode::kDataLoss) << size;
    ASSERT_TRUE(all.data == data.substr(0, all.data.size())) << size;
  }
}

TEST_P(Formats, NoDamageGoesUnseen) {
  const std::string data = sample(5000);
  const std::string packed = pack(data, GetParam());
  for (std::size_t i = kSnappyStart.size(); i < packed.size(); i += 7) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 + i % 255));
    const Unpacked all = unpack(damaged);
    EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss) << i;
    EXPECT_NE(all.failure.message().find(compression_name(GetParam())), std::string::npos) << all.failure.to_string();
  }
}

TEST_P(Formats, SeeksForwardAndBack) {
  const std::string data = sample(400'000);
  unpack(pack(data, GetParam()));
  const auto source = open_byte_source({.path = path_}, GetParam());
  ASSERT_TRUE(source.ok());
  std::string got(100, '\0');
  for (const std::size_t offset : {350'000U, 10U, 200'000U, 0U}) {
    ASSERT_TRUE((*source)->seek(offset).ok());
    ASSERT_TRUE((*source)->read(reinterpret_cast<std::uint8_t*>(got.data()), got.size()).ok());
    EXPECT_EQ(got, data.substr(offset, 100));
  }
  EXPECT_EQ((*source)->seek(400'001).code(), StatusCode::kDataLoss);
}

TEST_P(Formats, TheNamedOneWins) {
  std::filesystem::remove(path_);
  std::ofstream(path_) << pack("data", GetParam());
  for (const Compression other : {Compression::kGzip, Compression::kZlib, Compression::kZstd, Compression::kSnappy}) {
    if (other == GetParam()) continue;
    const Status refused = open_byte_source({.path = path_}, other).status();
    EXPECT_EQ(refused.code(), StatusCode::kDataLoss);
    EXPECT_EQ(refused.message(), std::string("not a ") + compression_name(other) + " file: it looks like " +
                                     compression_name(GetParam()) + " data");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         ::testing::Values(Compression::kGzip, Compression::kZlib, Compression::kZstd,
                                           Compression::kSnappy),
                         [](const auto& format) { return std::string(compression_name(format.param)); });

TEST(Compressor, LevelsAreThoseOfTheFormat) {
  EXPECT_TRUE(make_compressor(Compression::kNone, std::nullopt).ok());
  for (const auto& [format, level] : {std::pair{Compression::kGzip, 10}, {Compression::kZlib, -1}}) {
    const Status refused = make_compressor(format, level).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(refused.message().find("0 … 9"), std::string::npos) << refused.to_string();
  }
  const std::string data = sample(100'000);
  EXPECT_LT(pack(data, Compression::kGzip, SIZE_MAX, 9).size(), pack(data, Compression::kGzip, SIZE_MAX, 0).size());
  if (!has_compression(Compression::kZstd)) return;
  for (const int level : {0, 20}) {
    EXPECT_EQ(make_compressor(Compression::kZstd, level).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_NE(pack(data, Compression::kZstd, SIZE_MAX, 19), pack(data, Compression::kZstd, SIZE_MAX, 1));
}

class Zstd : public Formats {};

TEST_P(Zstd, FramesWithoutDataAreSkipped) {
  const std::string skippable = "\x53\x2A\x4D\x18\x05\0\0\0hello"s;
  const Unpacked all =
      unpack(skippable + pack("one", Compression::kZstd) + skippable + pack("two", Compression::kZstd));
  EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
  EXPECT_EQ(all.found, Compression::kZstd);
  EXPECT_EQ(all.data, "onetwo");
}

TEST_P(Zstd, OtherDataBehindAreALoss) {
  const Unpacked all = unpack(pack("data", Compression::kZstd) + "text");
  EXPECT_EQ(all.data, "data");
  EXPECT_NE(all.failure.message().find("other data follow"), std::string::npos) << all.failure.to_string();
}

INSTANTIATE_TEST_SUITE_P(One, Zstd, ::testing::Values(Compression::kZstd));

class Snappy : public Formats {
 protected:
  static std::string chunk(int type, const std::string& body) {
    std::string all(kSnappyHeaderBytes, '\0');
    store_u32(all.data(), static_cast<std::uint32_t>(body.size()) << 8 | static_cast<std::uint32_t>(type));
    return all + body;
  }
  static std::string checked(const std::string& data, const std::string& stored) {
    std::string all(kSnappyChecksumBytes, '\0');
    store_u32(all.data(), mask_crc(crc32c(reinterpret_cast<const std::uint8_t*>(data.data()), data.size())));
    return all + stored;
  }
  static inline const std::string kStart = "\xFF\x06\0\0sNaPpY"s;
};

TEST_P(Snappy, ChunksOfEveryType) {
  // 03: three bytes; 08: a literal of three bytes.
  const std::string compressed = chunk(kSnappyCompressed, checked("abc",
                                                                  "\x03\x08"
                                                                  "abc"));
  const std::string plain = chunk(kSnappyUncompressed, checked("defg", "defg"));
  const Unpacked all =
      unpack(kStart + compressed + chunk(kSnappyPadding, std::string(500, 'x')) + plain + kStart + chunk(0x80, "") +
             chunk(0xFD, "later") + chunk(kSnappyUncompressed, checked("", "")) + plain);
  EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
  EXPECT_EQ(all.data, "abcdefgdefg");
}

TEST_P(Snappy, WhatNoWriterMakesIsALoss) {
  const std::string good = kStart + chunk(kSnappyUncompressed, checked("good", "good"));
  const std::string long_data(kSnappyChunkBytes + 1, 'x');
  for (const std::string& bad :
       {chunk(0x02, "reserved"), chunk(0x7F, "reserved"), chunk(kSnappyIdentifier, "snappy"),
        chunk(kSnappyIdentifier, "sNaPpYY"), chunk(kSnappyUncompressed, "abc"),
        chunk(kSnappyUncompressed, checked("other", "some")),
        chunk(kSnappyCompressed, checked("abc",
                                         "\x03\x09"
                                         "abc")),
        chunk(kSnappyCompressed, checked("", "\xFF\xFF\xFF\xFF\x0F")),
        chunk(kSnappyUncompressed, checked(long_data, long_data)), chunk(kSnappyCompressed, std::string(100'000, 'x')),
        "\0"s, "\x01\x09\0"s, "\x01\x09\0\0ab"s}) {
    const Unpacked all = unpack(good + bad);
    EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss);
    EXPECT_EQ(all.data, "good");
  }
}

INSTANTIATE_TEST_SUITE_P(One, Snappy, ::testing::Values(Compression::kSnappy));

}  // namespace
}  // namespace headrace

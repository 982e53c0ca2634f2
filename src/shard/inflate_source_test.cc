// Compressed shards: members, padding, cuts, damage. Every case runs through the source (ISA-L where the build has it) and
// the inflaters are compared with each other.
#include "shard/inflate_source.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "shard/inflater.h"

namespace headrace {
namespace {

using namespace std::string_literals;

std::string deflated(const std::string& data, Compression format, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + (format == Compression::kGzip ? 16 : 0), 8,
                         Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string out(deflateBound(&stream, data.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Text that shrinks about by half.
std::string sample(std::size_t bytes, std::uint64_t seed = 1) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>('a' + random_below(seed, i, 13));
  return data;
}

struct Inflated {
  std::string data;
  Status failure;
};

class InflateSourceTest : public ::testing::TestWithParam<Compression> {
 protected:
  InflateSourceTest() : path_((std::filesystem::temp_directory_path() / "headrace-inflate-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) ::close(descriptor);
  }
  ~InflateSourceTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<ByteSource> open(const std::string& compressed) {
    std::filesystem::remove(path_);  // some file systems sync a file that is cut and written again
    std::ofstream(path_, std::ios::binary) << compressed;
    auto source = open_byte_source({.path = path_}, GetParam());
    EXPECT_TRUE(source.ok()) << source.status().to_string();
    return std::move(*source);
  }

  Inflated inflate(const std::string& compressed, std::size_t step = 10'000) {
    const auto source = open(compressed);
    Inflated all;
    std::string buffer(step, '\0');
    for (;;) {
      const auto n = source->read(reinterpret_cast<std::uint8_t*>(buffer.data()), step);
      if (!n.ok()) {
        all.failure = n.status();
        EXPECT_EQ(source->read(reinterpret_cast<std::uint8_t*>(buffer.data()), step).status().to_string(),
                  all.failure.to_string());
        return all;
      }
      if (*n == 0) return all;
      all.data.append(buffer, 0, *n);
      EXPECT_EQ(source->position(), all.data.size());
    }
  }

  std::string pack(const std::string& data) { return deflated(data, GetParam()); }

  std::string path_;
};

TEST_P(InflateSourceTest, WholeInStepsOfAnySize) {
  const std::string data = sample(700'000);
  const std::string compressed = pack(data);
  for (const std::size_t step : {1'000U, 65'536U, 262'144U, 1'000'000U}) {
    const Inflated all = inflate(compressed, step);
    EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
    EXPECT_TRUE(all.data == data);
  }
  EXPECT_EQ(inflate(pack("tiny"), 1).data, "tiny");
}

TEST_P(InflateSourceTest, MembersEmptyMembersAndPadding) {
  const std::string a = sample(300'000, 1);
  const std::string b = sample(10, 2);
  for (const std::string& file :
       {pack(a) + pack(b), pack("") + pack(a) + pack(b), pack(a) + pack("") + pack("") + pack(b),
        pack(a) + pack(b) + pack(""), pack(a) + pack(b) + std::string(1, '\0'),
        pack(a) + pack(b) + std::string(512, '\0'), pack(a) + std::string(300'000, '\0') + pack(b)}) {
    const Inflated all = inflate(file);
    EXPECT_TRUE(all.failure.ok()) << all.failure.to_string();
    EXPECT_TRUE(all.data == a + b);
  }
  const Inflated nothing = inflate(pack(""));
  EXPECT_TRUE(nothing.failure.ok());
  EXPECT_EQ(nothing.data, "");
}

TEST_P(InflateSourceTest, OtherDataBehindAreALossAfterTheData) {
  const std::string data = sample(1000);
  for (const std::string& tail : {"text"s, "\0\0text"s, "\x1F"s, "\x78"s, "\x1F\x8B garbage garbage"s}) {
    const Inflated all = inflate(pack(data) + tail);
    EXPECT_TRUE(all.data == data);
    EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss) << tail;
    EXPECT_EQ(all.failure.where().path, path_);
  }
}

TEST_P(InflateSourceTest, CutAnywhereIsALossAfterACorrectPrefix) {
  const std::string data = sample(3000);
  const std::string compressed = pack(data);
  for (std::size_t size = 1; size < compressed.size(); ++size) {
    const Inflated all = inflate(compressed.substr(0, size));
    ASSERT_EQ(all.failure.code(), StatusCode::kDataLoss) << size;
    ASSERT_TRUE(all.data == data.substr(0, all.data.size())) << size;
  }
  // The second member is cut: what the first one holds is all there.
  const std::string two = compressed + compressed.substr(0, compressed.size() / 2);
  const Inflated all = inflate(two);
  EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss);
  EXPECT_GE(all.data.size(), data.size());
}

TEST_P(InflateSourceTest, ChecksumAndSizeAreChecked) {
  const std::string data = sample(3000);
  const std::string compressed = pack(data);
  const std::size_t trailer = GetParam() == Compression::kGzip ? 8 : 4;
  for (std::size_t i = compressed.size() - trailer; i < compressed.size(); ++i) {
    std::string damaged = compressed;
    damaged[i] ^= 0x40;
    const Inflated all = inflate(damaged);
    EXPECT_EQ(all.failure.code(), StatusCode::kDataLoss) << i;
    EXPECT_TRUE(all.data == data.substr(0, all.data.size()));
  }
}

TEST_P(InflateSourceTest, NoDamageInTheMiddleGoesUnseenOrEndsTheProcess) {
  const std::string data = sample(5000);
  const std::string compressed = pack(data);
  for (std::size_t i = 2; i < compressed.size(); i += 7) {
    std::string damaged = compressed;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 + i % 255));
    const Inflated all = inflate(damaged);
    // A changed time or name in a gzip header is no damage of the data.
    if (all.failure.ok()) {
      EXPECT_TRUE(all.data == data) << i;
    }
  }
}

TEST_P(InflateSourceTest, HowMuchComesBeforeADamageDoesNotDependOnTheSteps) {
  const std::string data = sample(5000);
  const std::string compressed = pack(data);
  for (std::size_t i = 20; i < compressed.size(); i += 37) {
    std::string damaged = compressed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    const Inflated whole = inflate(damaged);
    for (const std::size_t step : {1U, 12U, 1'000U}) {
      const Inflated pieces = inflate(damaged, step);
      ASSERT_TRUE(pieces.data == whole.data) << i << ": " << pieces.data.size() << ", " << whole.data.size();
      ASSERT_EQ(pieces.failure.code(), whole.failure.code());
    }
  }
}

TEST_P(InflateSourceTest, SeeksForwardAndBack) {
  const std::string data = sample(400'000);
  const auto source = open(pack(data));
  std::string got(100, '\0');
  for (const std::size_t offset : {350'000U, 10U, 200'000U, 0U}) {
    ASSERT_TRUE(source->seek(offset).ok());
    const auto n = source->read(reinterpret_cast<std::uint8_t*>(got.data()), got.size());
    ASSERT_TRUE(n.ok());
    EXPECT_EQ(got, data.substr(offset, 100));
  }
  EXPECT_EQ(source->seek(400'001).code(), StatusCode::kDataLoss);
}

TEST_P(InflateSourceTest, MembersOfAnySizeInPiecesOfTheFile) {
  // The inflater may have taken bytes of the next member, or of the padding, from one piece of the file or from two.
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    std::string compressed;
    std::string data;
    while (compressed.size() < 300'000) {
      const std::uint64_t size = random_below(trial, compressed.size(), trial % 3 == 0 ? 100'000 : 2'000);
      const std::string piece = sample(size, compressed.size());
      data += piece;
      compressed += deflated(piece, GetParam(), static_cast<int>(trial % 10));
      if (trial % 2 == 0) compressed.append(random_below(trial + 1, compressed.size(), 4), '\0');
    }
    const Inflated all = inflate(compressed, 50'000);
    ASSERT_TRUE(all.failure.ok()) << trial << ": " << all.failure.to_string();
    ASSERT_TRUE(all.data == data) << trial;
  }
}

TEST_P(InflateSourceTest, TheInflatersAgree) {
  const auto isal = make_isal_inflater(GetParam());
  if (isal == nullptr) GTEST_SKIP() << "built without ISA-L";
  const auto zlib = make_zlib_inflater(GetParam());
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    std::string compressed = deflated(sample(2000, trial), GetParam(), static_cast<int>(trial % 10));
    if (trial % 3 != 0) {
      const auto place = static_cast<std::size_t>(random_below(9, trial, compressed.size()));
      compressed[place] = static_cast<char>(compressed[place] ^ (1 << trial % 8));
    }
    std::string outputs[2];
    Inflater::Outcome outcomes[2];
    for (int which = 0; which < 2; ++which) {
      Inflater* inflater = which == 0 ? isal.get() : zlib.get();
      inflater->reset();
      outputs[which].resize(70'000);
      const auto* in = reinterpret_cast<const std::uint8_t*>(compressed.data());
      std::size_t in_size = compressed.size();
      auto* out = reinterpret_cast<std::uint8_t*>(outputs[which].data());
      std::size_t room = outputs[which].size();
      outcomes[which] = inflater->step(&in, &in_size, &out, &room);
      outputs[which].resize(outputs[which].size() - room);
    }
    const bool whole[2] = {outcomes[0] == Inflater::Outcome::kMemberEnd, outcomes[1] == Inflater::Outcome::kMemberEnd};
    EXPECT_EQ(whole[0], whole[1]) << trial;
    if (whole[0] && whole[1]) {
      EXPECT_TRUE(outputs[0] == outputs[1]) << trial;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, InflateSourceTest, ::testing::Values(Compression::kGzip, Compression::kZlib),
                         [](const auto& format) { return format.param == Compression::kGzip ? "Gzip" : "Zlib"; });

}  // namespace
}  // namespace headrace

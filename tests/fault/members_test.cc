// Compressed files of several members (of gzip streams, of zstd frames, of snappy chunks) that are damaged in one or two of them:
// under the skip policy reading goes on at the next member that holds, and a saved position stays exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "headrace/report.h"
#include "headrace/verify.h"
#include "pipeline/pipeline_test_data.h"
#include "shard/byte_sink.h"

namespace headrace {
namespace {

using Ids = std::vector<std::int64_t>;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Members : public ::testing::TestWithParam<CompressionType> {
 protected:
  static constexpr std::int64_t kPerMember = 10;

  /// A member with the records [begin, begin + kPerMember).
  std::string member(std::int64_t begin) const {
    std::vector<std::string> records;
    for (std::int64_t id = begin; id < begin + kPerMember; ++id) records.push_back(example(id));
    write_records(folder_.file("member"), records, GetParam());
    return bytes_of(folder_.file("member"));
  }
  std::vector<std::string> members(std::int64_t count) const {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(member(i * kPerMember));
    return all;
  }
  /// A member of bytes that need not be whole records.
  std::string compressed(std::string_view bytes) const {
    auto sink = ByteSink::create(folder_.file("piece"), static_cast<Compression>(GetParam()), {});
    EXPECT_TRUE(sink.ok());
    EXPECT_TRUE((*sink)->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}).ok());
    EXPECT_TRUE((*sink)->close().ok());
    return bytes_of(folder_.file("piece"));
  }
  void write(const std::vector<std::string>& members) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        << std::accumulate(members.begin(), members.end(), std::string());
  }

  Dataset dataset(OnCorrupt policy) const {
    return TFRecordDataset({{path_}, true}, {.on_corrupt = policy, .num_threads = 1});
  }
  Ids read_skipping(std::int64_t* regions) const {
    Result<Pipeline> pipeline = dataset(OnCorrupt::kSkip).batch({.size = 7}).parse(id_schema()).open();
    EXPECT_TRUE(pipeline.ok());
    const Delivered got = drain(*pipeline);
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    *regions = report(*pipeline)->skipped;
    return got.flat();
  }
  std::int64_t verified_records(std::int64_t* regions) const {
    Result<ShardVerifier> verifier = ShardVerifier::open(path_, {});
    EXPECT_TRUE(verifier.ok());
    for (;;) {
      const Result<bool> goes_on = verifier->step();
      EXPECT_TRUE(goes_on.ok()) << goes_on.status().to_string();
      if (!goes_on.ok() || !*goes_on) break;
    }
    *regions = verifier->counts().regions;
    return verifier->counts().records;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("shard");
};

TEST_P(Members, AnyDamagedByteCostsItsMemberAtMost) {
  const std::vector<std::string> whole = members(3);
  const Ids first = range(0, kPerMember);
  const Ids last = range(2 * kPerMember, 3 * kPerMember);
  for (std::size_t i = 0; i < whole[1].size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i) + " of the second member");
    std::vector<std::string> damaged = whole;
    damaged[1][i] = static_cast<char>(damaged[1][i] ^ 0xFF);
    write(damaged);
    std::int64_t regions = 0;
    const Ids got = read_skipping(&regions);
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
    EXPECT_TRUE(std::includes(got.begin(), got.end(), first.begin(), first.end()));
    EXPECT_TRUE(std::includes(got.begin(), got.end(), last.begin(), last.end()));
    std::int64_t verified_regions = 0;
    EXPECT_EQ(verified_records(&verified_regions), std::ssize(got));
    EXPECT_EQ(verified_regions, regions);
    const Delivered strict = drain(dataset(OnCorrupt::kRaise).batch({.size = 7}).parse(id_schema()));
    EXPECT_EQ(regions == 0, strict.end.ok());
    EXPECT_EQ(strict.flat(), strict.end.ok() ? got : range(0, std::ssize(strict.flat())));
  }
}

TEST_P(Members, SeveralDamagesAndOneAtTheEnd) {
  std::vector<std::string> damaged = members(6);
  for (const std::size_t member : {1U, 3U, 5U}) damaged[member][damaged[member].size() / 2] ^= '\x55';
  write(damaged);
  std::int64_t regions = 0;
  const Ids got = read_skipping(&regions);
  for (const std::int64_t member : {0, 2, 4}) {
    for (const std::int64_t id : range(member * kPerMember, (member + 1) * kPerMember)) {
      EXPECT_EQ(std::count(got.begin(), got.end(), id), 1) << id;
    }
  }
  EXPECT_EQ(regions, 3);
}

TEST_P(Members, WhatStandsBetweenMembersIsSkipped) {
  const std::vector<std::string> whole = members(2);
  write({whole[0], "not compressed at all, and no record", whole[1]});
  std::int64_t regions = 0;
  EXPECT_EQ(read_skipping(&regions), range(0, 2 * kPerMember));
  EXPECT_EQ(regions, 1);
  write({whole[0], whole[1].substr(0, whole[1].size() / 2), whole[1]});
  const Ids got = read_skipping(&regions);
  EXPECT_EQ(Ids(got.begin(), got.begin() + kPerMember), range(0, kPerMember));
  EXPECT_EQ(got.back(), 2 * kPerMember - 1);
  EXPECT_EQ(regions, 1);
}

TEST_P(Members, ARecordOverTheEdgeOfADamagedMemberIsLostAlone) {
  std::string all;
  for (std::int64_t id = 0; id < 40; ++id) {
    write_records(folder_.file("one"), {example(id)});
    all += bytes_of(folder_.file("one"));
  }
  // Compresses 300 bytes at a time, wherever the records end.
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < all.size(); at += 300) pieces.push_back(compressed(all.substr(at, 300)));
  const std::size_t bad = 3;
  pieces[bad].back() ^= '\x01';
  write(pieces);
  std::int64_t regions = 0;
  const Ids got = read_skipping(&regions);
  const std::size_t record = all.size() / 40;  // about
  for (std::int64_t id = 0; id < 40; ++id) {
    const std::size_t begin = static_cast<std::size_t>(id) * record;
    const bool is_far = begin + 2 * record < bad * 300 || begin > (bad + 1) * 300 + record;
    if (is_far) {
      EXPECT_EQ(std::count(got.begin(), got.end(), id), 1) << id;
    }
  }
  EXPECT_EQ(regions, 1);
}

TEST_P(Members, APositionBehindADamageIsExact) {
  std::vector<std::string> damaged = members(8);
  damaged[2][damaged[2].size() / 2] ^= '\x55';
  damaged[5][damaged[5].size() / 3] ^= '\x55';
  write(damaged);
  for (const std::int64_t buffer : {1, 12}) {
    const Dataset pipeline = dataset(OnCorrupt::kSkip)
                                 .repeat(2)
                                 .shuffle({.buffer_size = buffer, .seed = 3})
                                 .batch({.size = 4})
                                 .parse(id_schema());
    const std::vector<Ids> all = drain(pipeline).batches;  // epochs 0 and 1
    EXPECT_GE(all.size(), 30U);
    for (std::size_t taken = 1; taken < all.size(); ++taken) {
      pipeline.set_epoch(0);
      Result<Pipeline> running = pipeline.open();
      ASSERT_TRUE(running.ok());
      drain(*running, taken);
      const Result<Position> position = running->position();
      ASSERT_TRUE(position.ok());
      Result<Pipeline> resumed = pipeline.open(*position);
      ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
      const Delivered rest = drain(*resumed);
      EXPECT_TRUE(rest.end.ok()) << rest.end.to_string();
      EXPECT_EQ(rest.batches, std::vector<Ids>(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end())) << taken;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Members,
                         ::testing::Values(CompressionType::kGzip, CompressionType::kZstd, CompressionType::kSnappy));

}  // namespace
}  // namespace headrace

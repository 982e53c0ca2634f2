#include "shard/member_finder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "shard/byte_sink.h"

namespace headrace {
namespace {

class MemberFinder : public ::testing::TestWithParam<Compression> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-members-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string member(const std::string& data) const {
    const std::string path = folder_ + "/member";
    auto sink = ByteSink::create(path, GetParam(), {});
    EXPECT_TRUE(sink.ok());
    EXPECT_TRUE((*sink)->write({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}).ok());
    EXPECT_TRUE((*sink)->close().ok());
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::unique_ptr<StoredFile> file(const std::string& bytes) const {
    const std::string path = folder_ + "/file";
    std::ofstream(path, std::ios::binary) << bytes;
    return std::move(*open_stored_file({.path = path}));
  }
  static std::string noise(std::size_t bytes, std::uint64_t seed) {
    std::string data(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(random_u64(seed, i));
    return data;
  }

  std::string folder_;
};

TEST_P(MemberFinder, FindsTheNextMemberBehindAnything) {
  const std::string whole = member(noise(1000, 1));
  for (const std::size_t before : {0U, 1U, 1000U, 65'530U, 65'536U, 200'000U}) {
    const auto bytes = file(noise(before, 2) + whole + "behind");
    const auto found = find_member(bytes.get(), GetParam(), 0);
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE(*found) << before;
    EXPECT_EQ(**found, before);
  }
}

TEST_P(MemberFinder, PassesOverOnesThatDoNotInflate) {
  const std::string whole = member(noise(500, 3));
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= '\x10';
  const std::size_t identifier = GetParam() == Compression::kSnappy ? 10 : 0;  // a chunk that holds
  const auto bytes = file(damaged + whole.substr(0, 20) + whole);
  const auto found = find_member(bytes.get(), GetParam(), identifier);
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_TRUE(**found == damaged.size() + 20 || (identifier > 0 && **found == damaged.size())) << **found;
  EXPECT_FALSE(*find_member(file(noise(100'000, 4) + damaged.substr(identifier)).get(), GetParam(), 0));
}

TEST_P(MemberFinder, ChecksHowFarAMemberIsRight) {
  const std::string data = noise(300'000, 5);
  const std::string whole = member(data);
  const std::size_t begin = GetParam() == Compression::kSnappy ? 10 : 0;
  const std::uint64_t bytes = GetParam() == Compression::kSnappy ? 65'536 : data.size();
  const auto right = check_member(file(whole).get(), GetParam(), begin, UINT64_MAX);
  ASSERT_TRUE(right.ok());
  EXPECT_EQ(right->outcome, MemberCheck::Outcome::kWhole);
  EXPECT_EQ(right->bytes, bytes);
  const auto cut = check_member(file(whole.substr(0, begin + 60'000)).get(), GetParam(), begin, UINT64_MAX);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->outcome, MemberCheck::Outcome::kBroken);
  EXPECT_LT(cut->bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(Formats, MemberFinder,
                         ::testing::Values(Compression::kGzip, Compression::kZstd, Compression::kSnappy));

}  // namespace
}  // namespace headrace

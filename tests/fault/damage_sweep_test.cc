// Every byte position of a small shard is cut and flipped in turn, in every format. Whatever the damage: no crash, no hang, no
// record that was not there, and under the skip policy no good record is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "headrace/example.h"
#include "headrace/pipeline.h"
#include "headrace/records.h"
#include "headrace/report.h"
#include "headrace/verify.h"

namespace headrace {
namespace {

using Records = std::vector<std::string>;

class DamageSweep : public ::testing::TestWithParam<CompressionType> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-sweep-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (std::int64_t id = 0; id < 6; ++id) {
      const std::string text(static_cast<std::size_t>(id) * 9, static_cast<char>('a' + id));
      const std::string_view view = text;
      whole_.push_back(ExampleBuilder().add_int64("id", {&id, 1}).add_bytes("s", {&view, 1}).build());
    }
    whole_[3].clear();  // an empty Example is one, too
    Result<RecordWriter> writer = RecordWriter::open(file("whole"), {.compression = GetParam()});
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    for (const std::string& record : whole_) ASSERT_TRUE(writer->write(record).ok());
    ASSERT_TRUE(writer->close().ok());
    std::ifstream in(file("whole"), std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    for (std::size_t end = 0; const std::string& record : whole_) ends_.push_back(end += record.size() + 16);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  bool is_plain() const { return GetParam() == CompressionType::kNone; }

  /// The file that is read from now on.
  void write(std::string_view bytes) const {
    std::ofstream(file("damaged"), std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
  }

  struct Reading {
    Records records;
    Status failure;
  };

  Reading read(OnCorrupt on_corrupt) const {
    Reading reading;
    Result<RecordReader> reader = RecordReader::open(file("damaged"), {.on_corrupt = on_corrupt});
    if (!reader.ok()) return {{}, reader.status()};
    for (;;) {
      const auto record = reader->next();
      if (!record.ok()) reading.failure = record.status();
      if (!record.ok() || !*record) return reading;
      reading.records.emplace_back(**record);
    }
  }

  /// The records without those that bytes [begin, end) of a plain file belong to.
  Records untouched(std::size_t begin, std::size_t end) const {
    Records rest;
    for (std::size_t i = 0; i < whole_.size(); ++i) {
      const std::size_t first = i == 0 ? 0 : ends_[i - 1];
      if (ends_[i] <= begin || first >= end) rest.push_back(whole_[i]);
    }
    return rest;
  }

  static bool is_prefix(const Records& part, const Records& all) {
    return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
  }
  /// What is left when some records of `all` are taken out.
  static bool is_subsequence(const Records& part, const Records& all) {
    auto next = all.begin();
    for (const std::string& record : part) {
      next = std::find(next, all.end(), record);
      if (next == all.end()) return false;
      ++next;
    }
    return true;
  }

  /// What holds for any damage; the records under the skip policy.
  Records check() const {
    const Reading strict = read(OnCorrupt::kRaise);
    EXPECT_TRUE(is_prefix(strict.records, whole_));
    EXPECT_TRUE(strict.failure.ok() || strict.failure.code() == StatusCode::kDataLoss) << strict.failure.to_string();
    const Reading lenient = read(OnCorrupt::kSkip);
    EXPECT_TRUE(lenient.failure.ok()) << lenient.failure.to_string();
    EXPECT_TRUE(is_subsequence(lenient.records, whole_));
    EXPECT_TRUE(is_prefix(strict.records, lenient.records)) << "what stands before the damage is delivered by both";
    const std::vector<SkippedRegion> regions = verify(lenient.records, std::nullopt);
    EXPECT_EQ(regions.empty(), strict.failure.ok());
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const std::int64_t begin = regions[i].reason.where().offset;
      EXPECT_TRUE(regions[i].end == -1 || regions[i].end >= begin) << to_json(regions[i]);
      EXPECT_TRUE(i == 0 || begin >= regions[i - 1].end) << to_json(regions[i]);
    }
    return lenient.records;
  }

  /// The verifier counts the same records.
  std::vector<SkippedRegion> verify(const Records& expected, std::optional<RecordWriter> copy) const {
    const bool copies = copy.has_value();
    Result<ShardVerifier> verifier = ShardVerifier::open(file("damaged"), {}, std::move(copy));
    EXPECT_TRUE(verifier.ok());
    bool goes_on = true;
    while (goes_on) {
      const Result<bool> stepped = verifier->step();
      EXPECT_TRUE(stepped.ok()) << stepped.status().to_string();
      goes_on = stepped.ok() && *stepped;
    }
    EXPECT_EQ(verifier->counts().records, std::ssize(expected));
    if (copies) {
      EXPECT_TRUE(verifier->close_copy().ok());
    }
    return verifier->take_regions();
  }

  /// The verifier's copy is whole and has the records of `expected`.
  void check_copy(const Records& expected) const {
    Result<RecordWriter> copy = RecordWriter::open(file("copy"));
    ASSERT_TRUE(copy.ok());
    verify(expected, std::move(*copy));
    Result<RecordReader> reader = RecordReader::open(file("copy"));
    ASSERT_TRUE(reader.ok());
    for (const std::string& record : expected) EXPECT_EQ(**reader->next(), record);
    EXPECT_FALSE(reader->next()->has_value());
  }

  /// A whole pipeline delivers the records of `expected`, in batches of two, and counts the damage.
  void check_pipeline(const Records& expected) const {
    const ReadOptions options{.on_corrupt = OnCorrupt::kSkip, .num_threads = 1};
    Result<Pipeline> pipeline = TFRecordDataset({{file("damaged")}, true}, options).batch({.size = 2}).open();
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
    std::int64_t rows = 0;
    for (;;) {
      const auto batch = pipeline->next();
      ASSERT_TRUE(batch.ok()) << batch.status().to_string();
      if (!*batch) break;
      rows += (*batch)->global_rows;
    }
    EXPECT_EQ(rows, std::ssize(expected));
    const Report counts = *report(*pipeline);
    EXPECT_EQ(counts.skipped, std::ssize(counts.skipped_regions));
  }

  std::string folder_;
  Records whole_;
  std::string bytes_;
  std::vector<std::size_t> ends_;  ///< of the records, in the uncompressed stream
};

TEST_P(DamageSweep, Cut) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    SCOPED_TRACE("cut to " + std::to_string(size) + " of " + std::to_string(bytes_.size()) + " bytes");
    write(std::string_view(bytes_).substr(0, size));
    const Records records = check();
    if (is_plain()) {
      EXPECT_EQ(records, untouched(size, bytes_.size()));
    }
    if (size % 4 == 0) check_pipeline(records);
    if (size % 8 == 0) check_copy(records);  // each is synced to the disk
  }
}

TEST_P(DamageSweep, Flipped) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      SCOPED_TRACE("byte " + std::to_string(i) + " xor " + std::to_string(mask));
      std::string damaged = bytes_;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      write(damaged);
      const Records records = check();
      if (is_plain()) {
        EXPECT_EQ(records, untouched(i, i + 1));
      }
      if (mask == 0xFF && i % 4 == 0) check_pipeline(records);
      if (mask == 0xFF && i % 8 == 0) check_copy(records);
    }
  }
}

TEST_P(DamageSweep, BytesTakenOutAndPutIn) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    std::string shorter = bytes_;
    shorter.erase(i, 1);
    write(shorter);
    const Records without = check();
    std::string longer = bytes_;
    longer.insert(i, 1, '\x5A');
    write(longer);
    const Records with = check();
    if (!is_plain()) continue;
    EXPECT_EQ(without, untouched(i, i + 1));
    const bool between = i == 0 || std::find(ends_.begin(), ends_.end(), i) != ends_.end();
    EXPECT_EQ(with, between ? whole_ : untouched(i, i + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, DamageSweep,
                         ::testing::Values(CompressionType::kNone, CompressionType::kGzip, CompressionType::kZlib,
                                           CompressionType::kZstd, CompressionType::kSnappy));

}  // namespace
}  // namespace headrace

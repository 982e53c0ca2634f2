// Storage that misbehaves: calls that are interrupted, give less than asked for, or fail; files that change while they are read.
// What stands before the trouble is delivered, then comes a failure that says which file, which record and where.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "fault/system_calls.h"
#include "headrace/report.h"
#include "pipeline/pipeline_test_data.h"

namespace headrace {
namespace {

using testing::CallAnswer;
using testing::CallArguments;
using testing::SystemCall;
using testing::SystemCalls;

constexpr int kRecords = 60'000;  // 4 MB in a shard: more than is read at once
constexpr CompressionType kFormats[] = {CompressionType::kNone, CompressionType::kGzip, CompressionType::kZlib,
                                        CompressionType::kZstd, CompressionType::kSnappy};

std::int64_t bytes_of(std::int64_t begin, std::int64_t end) {
  std::int64_t bytes = 0;
  for (std::int64_t id = begin; id < end; ++id) bytes += std::ssize(example(id)) + 16;
  return bytes;
}

Dataset read(const std::vector<std::string>& paths, const ReadOptions& options = {}) {
  return TFRecordDataset({paths, true}, options).batch({.size = 1000}).parse(id_schema());
}

/// `got` is the records [0, n) of a shard, then a failure there. Returns n.
std::int64_t check_prefix(const Delivered& got, StatusCode code, const std::string& path) {
  const std::vector<std::int64_t> records = got.flat();
  const std::int64_t n = std::ssize(records);
  EXPECT_EQ(records, range(0, n));
  EXPECT_EQ(got.end.code(), code) << got.end.to_string();
  EXPECT_EQ(got.end.where().path, path);
  EXPECT_EQ(got.end.where().record, n) << got.end.to_string();
  EXPECT_EQ(got.end.where().offset, bytes_of(0, n)) << got.end.to_string();
  return n;
}

TEST(Storage, InterruptedCallsAreMadeAgain) {
  const TemporaryFolder folder;
  for (const CompressionType format : kFormats) {
    const std::vector<std::string> paths = write_shards(folder, {3'000, 2'000}, format);
    std::atomic<int> calls = 0;
    std::atomic<int> interrupted = 0;
    const SystemCalls system(folder.path(), [&](const CallArguments&) -> CallAnswer {
      if (++calls % 2 == 0) return {};
      ++interrupted;
      return {.error = EINTR};
    });
    const Delivered got = drain(read(paths));
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    EXPECT_EQ(got.flat(), range(0, 5'000));
    EXPECT_GE(interrupted, 4);
  }
}

TEST(Storage, ShortReadsAreContinued) {
  const TemporaryFolder folder;
  for (const CompressionType format : kFormats) {
    const std::vector<std::string> paths = write_shards(folder, {300}, format);
    std::atomic<std::size_t> calls = 0;
    const SystemCalls system(folder.path(),
                             [&](const CallArguments&) -> CallAnswer { return {.at_most = 1 + calls++ % 7}; });
    const Delivered got = drain(read(paths));
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    EXPECT_EQ(got.flat(), range(0, 300));
    EXPECT_GE(calls, 500U);
  }
}

TEST(Storage, AFailedReadComesBehindTheRecordsBeforeIt) {
  const TemporaryFolder folder;
  for (const CompressionType format : kFormats) {
    const std::vector<std::string> paths = write_shards(folder, {kRecords}, format);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(paths[0]));
    for (const OnCorrupt on_corrupt : {OnCorrupt::kRaise, OnCorrupt::kSkip}) {  // it is no damage
      for (const int error : {EIO, ESTALE, EAGAIN}) {
        // The last read before it gives what stands before a bad sector.
        const std::int64_t bad = size / 2 + 13;
        const SystemCalls system(folder.path(), [&](const CallArguments& call) -> CallAnswer {
          if (call.call != SystemCall::kRead) return {};
          if (call.offset >= bad) return {.error = error};
          return {.at_most = static_cast<std::size_t>(bad - call.offset)};
        });
        const Delivered got = drain(read(paths, {.on_corrupt = on_corrupt}));
        const std::int64_t n = check_prefix(got, StatusCode::kIo, paths[0]);
        EXPECT_NE(got.end.message().find(std::generic_category().message(error)), std::string::npos);
        // Of a plain file every whole record; a compressed one has given most of its half.
        EXPECT_GE(n, kRecords / 4);
        if (format == CompressionType::kNone) {
          EXPECT_GT(bytes_of(0, n + 1), bad);
        }
      }
    }
  }
}

TEST(Storage, AFailedOpenComesInItsPlace) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {10, 10, 10});
  const SystemCalls system("shard-1", [&](const CallArguments&) -> CallAnswer { return {.error = ESTALE}; });
  for (const OnCorrupt on_corrupt : {OnCorrupt::kRaise, OnCorrupt::kSkip}) {
    const Delivered got = drain(read(paths, {.on_corrupt = on_corrupt}));
    EXPECT_EQ(got.flat(), range(0, 10));
    EXPECT_EQ(got.end.code(), StatusCode::kIo) << got.end.to_string();
    EXPECT_EQ(got.end.where().path, paths[1]);
  }
}

TEST(Storage, AFileThatMustBeWaitedForIsWaitedFor) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_shards(folder, {10});
  std::atomic<int> refused = 0;
  // What an open that does not wait says to a file under a lease, or on a tape.
  const SystemCalls system(folder.path(), [&](const CallArguments& call) -> CallAnswer {
    if (call.call != SystemCall::kOpen || (call.flags & O_NONBLOCK) == 0) return {};
    ++refused;
    return {.error = EAGAIN};
  });
  EXPECT_EQ(drain(read(paths)).flat(), range(0, 10));
  EXPECT_GT(refused, 0);
}

// Large records behind a shuffle are read a second time, when they are parsed.
TEST(Storage, AFailedReadOfALocatedRecordNamesIt) {
  const TemporaryFolder folder;
  const std::string padding(20'000, 'p');
  const std::string_view view = padding;
  std::vector<std::string> records;
  for (std::int64_t id = 0; id < 100; ++id) {
    records.push_back(ExampleBuilder().add_int64("id", {&id, 1}).add_bytes("padding", {&view, 1}).build());
  }
  const std::string path = folder.file("large");
  write_records(path, records);
  const std::int64_t bad = 70;
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < bad; ++i) offset += std::ssize(records[static_cast<std::size_t>(i)]) + 16;
  const SystemCalls system(path, [&](const CallArguments& call) -> CallAnswer {
    const bool is_payload = call.call == SystemCall::kRead && call.size > 1000;
    return {.error = is_payload && call.offset == offset ? EIO : 0};
  });
  const Delivered got = drain(
      TFRecordDataset({{path}, true}).shuffle({.buffer_size = 20, .seed = 1}).batch({.size = 4}).parse(id_schema()));
  EXPECT_EQ(got.end.code(), StatusCode::kIo) << got.end.to_string();
  EXPECT_EQ(got.end.where().path, path);
  EXPECT_EQ(got.end.where().record, bad);
  EXPECT_EQ(got.end.where().offset, offset);
  const std::vector<std::int64_t> ids = got.flat();
  EXPECT_GE(ids.size(), 40U);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), bad), 0);
}

TEST(Storage, AFileThatBecomesShorterIsAnErrorBehindWhatIsLeft) {
  const TemporaryFolder folder;
  for (const CompressionType format : kFormats) {
    for (const std::int64_t extra : {0, 5}) {  // cut between two records, and inside one
      const std::vector<std::string> paths = write_shards(folder, {kRecords}, format);
      const auto size = static_cast<std::int64_t>(std::filesystem::file_size(paths[0]));
      const std::int64_t whole = kRecords / 2;
      const std::int64_t left = format == CompressionType::kNone ? bytes_of(0, whole) + extra : size / 2;
      std::atomic<bool> is_cut = false;
      const SystemCalls system(folder.path(), [&](const CallArguments& call) -> CallAnswer {
        if (call.call == SystemCall::kRead && call.offset > size / 4 && !is_cut.exchange(true)) {
          std::filesystem::resize_file(paths[0], left);
        }
        return {};
      });
      const Delivered got = drain(read(paths));
      const std::int64_t n = check_prefix(got, StatusCode::kDataLoss, paths[0]);
      EXPECT_NE(got.end.message().find("has become shorter; it had " + std::to_string(size)), std::string::npos)
          << got.end.to_string();
      if (format == CompressionType::kNone) {
        EXPECT_EQ(n, whole);
      }
    }
  }
}

TEST(Storage, AFileThatWasCutSinceItWasListedIsAnError) {
  const TemporaryFolder folder;
  for (const std::int64_t whole : {0, 4}) {
    const std::vector<std::string> paths = write_shards(folder, {10, 10});
    const SystemCalls system("shard-1", [&](const CallArguments& call) -> CallAnswer {
      if (call.call == SystemCall::kOpen) std::filesystem::resize_file(paths[1], bytes_of(10, 10 + whole));
      return {};
    });
    const Delivered got = drain(read(paths));
    EXPECT_EQ(got.flat(), range(0, 10 + whole));
    EXPECT_EQ(got.end.code(), StatusCode::kDataLoss) << got.end.to_string();
    EXPECT_EQ(got.end.where().path, paths[1]);
    EXPECT_EQ(got.end.where().record, whole);
  }
  const std::vector<std::string> paths = write_shards(folder, {10, 10});
  const SystemCalls system("shard-0", [&](const CallArguments& call) -> CallAnswer {
    if (call.call == SystemCall::kOpen) std::filesystem::resize_file(paths[0], bytes_of(0, 4));
    return {};
  });
  Result<Pipeline> pipeline = read(paths, {.on_corrupt = OnCorrupt::kSkip}).open();
  ASSERT_TRUE(pipeline.ok());
  const Delivered got = drain(*pipeline);
  EXPECT_EQ(got.flat().size(), 14U);
  EXPECT_EQ(report(*pipeline)->skipped, 1);
}

TEST(Storage, WhatIsAppendedWhileAFileIsReadIsNotRead) {
  const TemporaryFolder folder;
  for (const CompressionType format : kFormats) {
    const std::vector<std::string> paths = write_shards(folder, {kRecords}, format);
    std::ifstream in(paths[0], std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    std::atomic<bool> has_grown = false;
    const SystemCalls system(folder.path(), [&](const CallArguments& call) -> CallAnswer {
      if (call.call == SystemCall::kRead && call.offset > 0 && !has_grown.exchange(true)) {
        std::ofstream(paths[0], std::ios::binary | std::ios::app) << whole.substr(0, whole.size() / 2);
      }
      return {};
    });
    const Delivered got = drain(read(paths));
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    EXPECT_EQ(got.flat(), range(0, kRecords));
    EXPECT_TRUE(has_grown);
  }
}

TEST(Storage, AFileThatIsReplacedOrRemovedIsReadToItsEnd) {
  const TemporaryFolder folder;
  for (const bool replaces : {false, true}) {
    const std::vector<std::string> paths = write_shards(folder, {kRecords});
    write_records(folder.file("other"), {example(7)});
    std::atomic<bool> is_done = false;
    const SystemCalls system("shard-0", [&](const CallArguments& call) -> CallAnswer {
      if (call.call != SystemCall::kRead || call.offset == 0 || is_done.exchange(true)) return {};
      if (replaces) {
        std::filesystem::rename(folder.file("other"), paths[0]);
      } else {
        std::filesystem::remove(paths[0]);
      }
      return {};
    });
    const Delivered got = drain(read(paths));
    EXPECT_TRUE(got.end.ok()) << got.end.to_string();
    EXPECT_EQ(got.flat(), range(0, kRecords));
    EXPECT_TRUE(is_done);
  }
}

TEST(Storage, AWriterThatFailsLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("shard");
  struct Case {
    SystemCall call;
    int error;
    StatusCode code;
  };
  for (const Case& fault : {Case{SystemCall::kWrite, ENOSPC, StatusCode::kIo},
                            {SystemCall::kWrite, EDQUOT, StatusCode::kIo},
                            {SystemCall::kSync, EIO, StatusCode::kIo},
                            {SystemCall::kRename, ENOSPC, StatusCode::kIo},
                            {SystemCall::kOpen, EROFS, StatusCode::kIo},
                            {SystemCall::kOpen, EACCES, StatusCode::kPermissionDenied}}) {
    for (const CompressionType format : kFormats) {
      write_records(path, {example(1)});
      {
        const SystemCalls system("shard", [&](const CallArguments& call) -> CallAnswer {
          return {.error = call.call == fault.call ? fault.error : 0};
        });
        Status failure;
        Result<RecordWriter> writer = RecordWriter::open(path, {.compression = format});
        failure = writer.status();
        for (int i = 0; i < 100 && failure.ok(); ++i)
          failure = writer->write(std::string(100'000, static_cast<char>(i)));
        if (failure.ok()) failure = writer->close();
        EXPECT_EQ(failure.code(), fault.code) << failure.to_string();
        EXPECT_EQ(failure.where().path, path);
      }
      EXPECT_EQ(drain(read({path})).flat(), range(1, 2));
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file is left";
    }
  }
}

TEST(Storage, WritesAndSyncsThatAreInterruptedOrShortAreContinued) {
  const TemporaryFolder folder;
  const std::string path = folder.file("shard");
  {
    std::atomic<int> calls = 0;
    const SystemCalls system(folder.path(), [&](const CallArguments& call) -> CallAnswer {
      const bool interrupted = call.call != SystemCall::kRename && ++calls % 2 == 1;
      return {.error = interrupted ? EINTR : 0, .at_most = 1000};
    });
    std::vector<std::string> records;
    for (std::int64_t id = 0; id < 2'000; ++id) records.push_back(example(id));
    write_records(path, records);
  }
  EXPECT_EQ(drain(read({path})).flat(), range(0, 2'000));
}

}  // namespace
}  // namespace headrace

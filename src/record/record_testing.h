// For the tests of this folder: a scratch folder, TFRecord bytes that can be damaged, and a source with its threads.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/framing.h"
#include "record/source.h"

namespace headrace::testing {

/// A folder that is removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::string pattern = (std::filesystem::temp_directory_path() / "headrace-record-XXXXXX").string();
    path_ = pattern;
    if (mkdtemp(path_.data()) == nullptr) std::perror("mkdtemp");
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::remove(path(name));  // some file systems sync a file that is cut and written again
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string framed(std::string_view payload) {
  std::string record(kHeaderBytes + payload.size() + kFooterBytes, '\0');
  auto* bytes = reinterpret_cast<std::uint8_t*>(record.data());
  std::copy(payload.begin(), payload.end(), record.begin() + kHeaderBytes);
  make_header(payload.size(), bytes);
  make_footer(bytes + kHeaderBytes, payload.size(), bytes + kHeaderBytes + payload.size());
  return record;
}

/// Record `ordinal` of shard `shard` in these tests; `bytes` long, at least its name.
inline std::string payload_of(std::size_t shard, std::size_t ordinal, std::size_t bytes = 0) {
  std::string text = std::to_string(shard) + "." + std::to_string(ordinal);
  if (text.size() < bytes) text.resize(bytes, static_cast<char>('a' + ordinal % 26));
  return text;
}

inline std::string shard_bytes(std::size_t shard, std::size_t records, std::size_t bytes = 0) {
  std::string all;
  for (std::size_t i = 0; i < records; ++i) all += framed(payload_of(shard, i, bytes));
  return all;
}

/// Threads, pool and logs for sources over `shards`; stages must die first.
class SourceWorld {
 public:
  explicit SourceWorld(const std::vector<std::string>& paths, std::int64_t max_skipped = 1000, int threads = 2)
      : skipped(max_skipped),
        work_pool(std::make_shared<WorkerPool>("test work", threads)),
        io_pool(std::make_shared<WorkerPool>("test io", 2)),
        work(std::make_unique<TaskGroup>(work_pool, threads)),
        io(std::make_unique<TaskGroup>(io_pool, 2)) {
    auto list = std::make_shared<ShardList>();
    for (const std::string& path : paths) list->files.push_back({path, 0});
    shards = std::move(list);
  }
  /// Waits for the tasks in flight; the streams that they held are gone then.
  void close() {
    work->close();
    io->close();
  }
  ~SourceWorld() { close(); }
  SourceWorld(const SourceWorld&) = delete;
  SourceWorld& operator=(const SourceWorld&) = delete;

  SourceContext context() {
    return {.shards = shards,
            .blocks = &blocks,
            .work = work.get(),
            .io = io.get(),
            .skipped = &skipped,
            .warnings = &warnings,
            .probe = &probe,
            .lengths = lengths};
  }

  BlockPool blocks;
  SkipLog skipped;
  WarningLog warnings;
  StageProbe probe;
  std::shared_ptr<KnownLengths> lengths = std::make_shared<KnownLengths>();
  std::shared_ptr<const ShardList> shards;
  std::shared_ptr<WorkerPool> work_pool;
  std::shared_ptr<WorkerPool> io_pool;
  std::unique_ptr<TaskGroup> work;
  std::unique_ptr<TaskGroup> io;
};

struct PulledRecords {
  std::vector<std::string> payloads;
  std::vector<RecordId> ids;
  Status failure;
};

/// Pulls until `limit` records, the end or a failure; gives everything back.
inline PulledRecords pull_all(RecordStage* stage, BlockPool* blocks, std::size_t pull_size = 64,
                              std::size_t limit = SIZE_MAX) {
  PulledRecords all;
  while (all.payloads.size() < limit) {
    std::vector<RecordRun> runs;
    const Result<std::size_t> got = stage->pull(std::min(pull_size, limit - all.payloads.size()), &runs, {});
    for (const RecordRun& run : runs) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        const auto payload = run.block->payload(run.first + i);
        // Of a located record only the size is known.
        all.payloads.push_back(payload.data() == nullptr ? std::string(payload.size(), '?')
                                                         : std::string(payload.begin(), payload.end()));
        all.ids.push_back(record_id(run, i));
      }
    }
    blocks->release(runs);
    if (!got.ok()) all.failure = got.status();
    if (!got.ok() || *got == 0) break;
  }
  return all;
}

}  // namespace headrace::testing

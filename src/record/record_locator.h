// RecordLocator: where the records of one plain local shard are, without reading their data.
//
// It goes from header to header and hands out located blocks, whose records a RecordLoader reads when they are parsed
// (docs/design/late_reading.md). The system is asked to have the data in its cache by then. A shard is for it when its first
// record is large; what is not a whole record with a good header is for a ShardReader, which says what is wrong.
//
// One caller at a time. Outcomes of step(): those of ShardReader::step(), or nothing: go on with a ShardReader at place().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/shard_reader.h"
#include "record/source.h"
#include "shard/file.h"

namespace headrace {

/// Shards whose first record is at least so large are only located. Below it, a system call for each record costs more than
/// the second crossing of memory that it saves.
constexpr std::uint64_t kLateBytes = 8 * 1024;

/// The shard, opened, when its records are only located; nothing when a ByteSource must read it.
std::optional<File> open_located(const SourceContext& context, const SourceOptions& options, std::uint32_t shard);

class RecordLocator {
 public:
  /// `context` and `options` outlive it.
  RecordLocator(const SourceContext& context, const SourceOptions& options, std::uint32_t shard, ShardPlace start);

  std::optional<ReadStep> step(bool may_wait, ShardPiece* piece);
  ShardPlace place() const { return place_; }

 private:
  enum class Look : std::uint8_t { kRecord = 1, kEnd, kWouldWait, kNotMine };

  bool learns() const { return context_.lengths != nullptr && from_start_ && known_ == nullptr; }
  /// The length of the record at place().
  Look look(bool may_wait, std::uint32_t* length);
  void ask_ahead();

  // constant after construction
  const SourceContext& context_;
  const SourceOptions& options_;
  const std::uint32_t shard_;
  const bool from_start_;

  std::optional<File> file_;
  ShardPlace place_;           // of the next record
  std::uint64_t asked_ahead_;  // bytes before it are in the system's cache or on their way
  KnownLengths::Lengths known_;
  std::vector<std::uint32_t> walked_;  // since the start of the shard; what known_ is to be
};

}  // namespace headrace

// PieceReader: reads one piece of a RecordMap: neighbouring records of a plain shard, at the place that an index names.
//
// A piece is read with one call and framed and checked while it is in the cache. Where anything is not as the index says, a
// ShardReader reads it again from its beginning and says what is wrong. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "headrace/skipped.h"
#include "record/record_loader.h"
#include "record/record_map.h"
#include "record/source.h"

namespace headrace {

/// What was read of a piece; whoever has it releases the records.
struct PieceContent {
  std::vector<RecordBlock*> blocks;   ///< published, in order; located ones where the map has the lengths
  std::vector<SkippedRegion> damage;  ///< what was left out (on_corrupt="skip")
  Status failure;                     ///< why the records are missing that stand in none of `blocks`

  /// The record with this ordinal in its shard; a run without a block when it is missing.
  RecordRun find(std::uint64_t ordinal) const;
};

class PieceReader {
 public:
  PieceReader(SourceContext context, const ReadOptions& options) : context_(std::move(context)), options_(options) {}

  /// False: it would have to wait for a disk, and nothing was done.
  bool read(const Piece& piece, bool may_wait, PieceContent* content) const;

 private:
  bool locate(const Piece& piece, const File& file, PieceContent* content) const;
  void ask_ahead(const Piece& piece, const File& file) const;
  void read_again(const Piece& piece, PieceContent* content) const;
  Status misplaced(const Piece& piece, const Status& failure) const;

  const SourceContext context_;
  const ReadOptions options_;
  mutable std::atomic<std::uint32_t> located_{0};
  mutable std::atomic<bool> is_cached_{false};  // what was looked at last
};

}  // namespace headrace

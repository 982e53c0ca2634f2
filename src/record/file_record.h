// FileRecord: a whole file as one record, for data sets that keep each of their examples in a file of its own.
//
// The file is read into a block of its own, behind the bytes that make it the list of an Example: {"path": its path, "bytes": its
// bytes}. Who parses gets the Example as record, everybody else the bytes alone; neither is copied.
//
// One caller at a time. Outcomes of step(): those of ShardReader::step(). It waits for a disk or a network, and
// only where it may.
#pragma once

#include <utility>

#include "headrace/dataset.h"
#include "record/block.h"
#include "record/shard_reader.h"

namespace headrace {

/// What a record of a data set is.
enum class RecordKind : std::uint8_t {
  kFramed = 0,  ///< one of a TFRecord file
  kFile,        ///< a file
  kFileExample  ///< a file, as an Example
};

/// Reads a file: a block with one record, published.
Result<RecordBlock*> read_file_record(BlockPool* blocks, const ShardFile& listed, std::uint32_t shard, RecordKind kind,
                                      const ReadOptions& options);

class FileRecord {
 public:
  FileRecord(BlockPool* blocks, ShardFile file, std::uint32_t shard, RecordKind kind, const ReadOptions& options,
             ShardPlace start)
      : blocks_(blocks),
        file_(std::move(file)),
        shard_(shard),
        kind_(kind),
        options_(options),
        is_read_(start.ordinal > 0) {}

  ReadStep step(bool may_wait, ShardPiece* piece);

 private:
  BlockPool* const blocks_;
  const ShardFile file_;
  const std::uint32_t shard_;
  const RecordKind kind_;
  const ReadOptions& options_;  // of the source
  bool is_read_;
  Status failure_;
};

}  // namespace headrace

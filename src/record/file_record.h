// FileRecord: a whole file as one record, for data sets that keep each of their examples in a file of its own.
//
// The file is read into a block of its own, behind the bytes that make it the list of an Example: {"path": its path, "bytes": its
// bytes}. Who parses gets the Example as record, everybody else the bytes alone; neither is copied.
//
// One caller at a time. Outcomes of step(): those of ShardReader::step(). It waits for the disk and only does so where it may.
#pragma once

#include <string>

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

/// Reads `path`: a block with one record, published. `listed_bytes`: of the file, when the data set was listed.
Result<RecordBlock*> read_file_record(BlockPool* blocks, const std::string& path, std::uint32_t shard, RecordKind kind,
                                      const ReadOptions& options, std::uint64_t listed_bytes);

class FileRecord {
 public:
  FileRecord(BlockPool* blocks, std::string path, std::uint32_t shard, RecordKind kind, const ReadOptions& options,
             ShardPlace start, std::uint64_t listed_bytes)
      : blocks_(blocks),
        path_(std::move(path)),
        shard_(shard),
        kind_(kind),
        options_(options),
        listed_bytes_(listed_bytes),
        is_read_(start.ordinal > 0) {}

  ReadStep step(bool may_wait, ShardPiece* piece);

 private:
  BlockPool* const blocks_;
  const std::string path_;
  const std::uint32_t shard_;
  const RecordKind kind_;
  const ReadOptions& options_;  // of the source
  const std::uint64_t listed_bytes_;
  bool is_read_;
  Status failure_;
};

}  // namespace headrace

// Single TFRecord files: a reader and a writer. docs/formats has the format.
//
// Both are single-threaded objects: one caller at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/dataset.h"
#include "headrace/status.h"

namespace headrace {

class RecordReader {
 public:
  static Result<RecordReader> open(const std::string& path, const ReadOptions& options = {});
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  /// The payload of the next record, valid until the next call; nothing at the end; or a failure (kDataLoss, …), sticky.
  Result<std::optional<std::string_view>> next();

 private:
  struct Impl;
  explicit RecordReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct WriterOptions {
  CompressionType compression = CompressionType::kNone;  ///< kAuto means kNone
  /// 0 … 9, for zstd 1 … 19; nothing: 6, for zstd 3. It means nothing without compression and for snappy.
  std::optional<int> level = std::nullopt;
  bool index = false;  ///< close() puts the index of the file beside it (headrace/index.h)
};

/// Writes to a temporary name beside `path` and renames on close(): a file with the final name is always whole.
class RecordWriter {
 public:
  static Result<RecordWriter> open(const std::string& path, const WriterOptions& options = {});
  RecordWriter(RecordWriter&&) noexcept;
  RecordWriter& operator=(RecordWriter&&) noexcept;
  /// Without close() the temporary file is removed.
  ~RecordWriter();

  Status write(std::string_view record);
  /// Flushes, syncs, renames. Idempotent.
  Status close();

 private:
  struct Impl;
  explicit RecordWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace

// ByteSink: a file that is written once, from front to back, plain or compressed, and appears under its name when whole.
//
// The bytes go to a hidden temporary file in the same folder; close() syncs and renames it. Without close(), and after a
// failure, the temporary file is removed and `path` is as it was. One caller at a time. Failures name `path` and stay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headrace/status.h"
#include "shard/byte_source.h"

namespace headrace {

class ByteSink {
 public:
  /// `level` is zlib's 0 … 9 and means nothing for kNone; kAuto counts as kNone.
  static Result<std::unique_ptr<ByteSink>> create(const std::string& path, Compression compression, int level);
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  ~ByteSink();

  Status write(std::span<const std::uint8_t> bytes);
  Status close();

 private:
  class Deflater;
  ByteSink(std::string path, std::string temporary, int descriptor, std::unique_ptr<Deflater> deflater);
  Status write_file(const std::uint8_t* data, std::size_t size);
  Status commit();
  void abandon();

  const std::string path_;
  const std::string temporary_;
  int descriptor_;
  const std::unique_ptr<Deflater> deflater_;  // null when not compressed
  Status status_;
};

}  // namespace headrace

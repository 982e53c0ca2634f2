// ByteSink: a file that is written once, from front to back, plain or compressed, and appears under its name when whole.
//
// The bytes go to a hidden temporary file in the same folder; close() syncs and renames it. Without close(), and after a
// failure, the temporary file is removed and `path` is as it was. One caller at a time. Failures name `path` and stay.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headrace/status.h"
#include "shard/compressor.h"

namespace headrace {

class ByteSink {
 public:
  /// `level`: see make_compressor(). kAuto counts as kNone.
  static Result<std::unique_ptr<ByteSink>> create(const std::string& path, Compression compression,
                                                  std::optional<int> level);
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  ~ByteSink();

  Status write(std::span<const std::uint8_t> bytes);
  Status close();

 private:
  ByteSink(std::string path, std::string temporary, int descriptor, std::unique_ptr<Compressor> compressor);
  Status write_file(std::span<const std::uint8_t> bytes);
  Compressor::Write to_file();
  Status commit();
  void abandon();

  const std::string path_;
  const std::string temporary_;
  int descriptor_;
  const std::unique_ptr<Compressor> compressor_;  // null when not compressed
  Status status_;
};

}  // namespace headrace

// File: one regular file opened for reading, and the failures of the operating system as Status values.
//
// Owns its descriptor. Calls at different offsets may be concurrent. Failures carry the path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/status.h"

namespace headrace {

/// `what` ("cannot open", …) with the system's words for `error`; the code is the one DESIGN's table names for it.
Status file_failure(const std::string& what, const std::string& path, int error);

class File {
 public:
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  /// Reads `size` bytes at `offset`; fewer only at the end of the file.
  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const;
  /// What of it can be had without waiting for a disk; nothing when not even one byte (0 = end of the file).
  std::optional<Result<std::size_t>> try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const;

  /// True when its file system is one whose pages the system caches on this machine: a read of 12 bytes costs little.
  bool is_local() const;
  /// Asks the system to have these bytes in its cache soon. Only a hint.
  void will_need(std::uint64_t offset, std::uint64_t size) const;
  /// Tells the system that reads do not follow each other. Only a hint.
  void will_jump() const;

  /// When it was opened.
  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  File(int descriptor, std::uint64_t size, std::string path);

  int descriptor_;
  std::uint64_t size_;
  std::string path_;
};

}  // namespace headrace

// File: one regular file opened for reading.
//
// Its descriptor may be closed and opened again between calls (descriptor.h). Calls at different offsets may be concurrent.
// Failures carry the path.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "headrace/status.h"
#include "shard/descriptor.h"
#include "shard/file_failure.h"

namespace headrace {

class File {
 public:
  /// `listed_bytes`: what it had when the data set was listed; if it has fewer now, reads behind its end fail.
  static Result<File> open(const std::string& path, std::uint64_t listed_bytes = 0);

  /// Reads up to `size` bytes at `offset`: nothing behind size(), and otherwise fewer only just before a failure.
  /// kDataLoss where the file has become shorter than size().
  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const;
  /// What of it can be had without waiting for a disk; nothing when not even one byte, or when only read_at() can tell.
  std::optional<Result<std::size_t>> try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const;

  /// True when its file system is one whose pages the system caches on this machine: a read of 12 bytes costs little.
  bool is_local() const;
  /// Asks the system to have these bytes in its cache soon. Only a hint.
  void will_need(std::uint64_t offset, std::uint64_t size) const;
  /// Tells the system that reads do not follow each other. Only a hint.
  void will_jump() const;

  /// When it was opened, or listed. What is appended later is not read.
  std::uint64_t size() const { return size_; }
  const std::string& path() const { return descriptor_->path(); }

 private:
  File(std::unique_ptr<Descriptor> descriptor, std::uint64_t size) : descriptor_(std::move(descriptor)), size_(size) {}
  std::size_t clipped(std::size_t size, std::uint64_t offset) const;

  std::unique_ptr<Descriptor> descriptor_;
  std::uint64_t size_;
};

}  // namespace headrace

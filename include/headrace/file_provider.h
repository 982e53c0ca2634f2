// FileProvider: files that the host program finds and opens, for what neither the system nor this library can read by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/status.h"

namespace headrace {

/// An opened file. One caller at a time, on an IO thread of the engine; the last reference may be dropped on any thread.
class ProvidedFile {
 public:
  virtual ~ProvidedFile() = default;
  /// Reads up to `size` bytes at `offset`; 0 only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) = 0;
};

/// Calls may be concurrent.
class FileProvider {
 public:
  struct Entry {
    std::string path;  ///< for open(), errors and the identity of the data set
    std::uint64_t bytes = 0;
  };

  virtual ~FileProvider() = default;
  /// The files that `items` mean: one string, or a list of literal paths; in reading order. Failures as those of Dataset::open().
  virtual Result<std::vector<Entry>> find(const std::vector<std::string>& items, bool is_list) const = 0;
  virtual Result<std::unique_ptr<ProvidedFile>> open(const std::string& path) const = 0;
  /// What it is called in reports, such as "Python IO".
  virtual std::string name() const = 0;
};

}  // namespace headrace

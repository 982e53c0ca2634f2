// StoredFile: the stored bytes of one shard, wherever they lie: a local file, an object behind a URL, a file of the user's.
//
// One caller at a time. Failures carry the path.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/status.h"

namespace headrace {

class StoredFile {
 public:
  virtual ~StoredFile() = default;

  /// Reads `size` bytes at `offset`; fewer only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) = 0;
  /// What of it can be had without waiting; nothing when not even one byte (0 = end of the file).
  virtual std::optional<Result<std::size_t>> try_read_at(std::uint8_t* data, std::size_t size,
                                                         std::uint64_t offset) = 0;
  virtual std::uint64_t size() const = 0;
  /// As it is shown: without credentials.
  virtual const std::string& path() const = 0;
};

/// Where a shard that is no local file comes from. Constant; any thread.
class ShardOrigin {
 public:
  virtual ~ShardOrigin() = default;
  /// May wait.
  virtual Result<std::unique_ptr<StoredFile>> open() const = 0;
  /// Opened without waiting, and its first bytes on their way; null when there is no such thing.
  virtual std::unique_ptr<StoredFile> open_ahead() const { return nullptr; }
};

struct ShardFile {
  std::string path;         ///< as it is shown: no credentials, no query of a URL
  std::uint64_t bytes = 0;  ///< when it was found; of a local file with fewer, reads behind its end fail
  std::shared_ptr<const ShardOrigin> origin = nullptr;  ///< null: the local file `path`
};

/// Opens it, which may wait unless it is a local file.
Result<std::unique_ptr<StoredFile>> open_stored_file(const ShardFile& file);

}  // namespace headrace

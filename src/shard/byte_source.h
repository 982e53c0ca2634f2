// ByteSource: the uncompressed bytes of one shard, in order. It knows nothing of records.
//
// One caller at a time; calls block on the operating system (never on other threads of ours), so a stop is noticed between
// calls. Outcomes of read(): n > 0 bytes, 0 = end of data (each later call again), or a failure that names the path
// (kDataLoss for a damaged or cut compressed stream, kIo, …); bytes before the damage are delivered first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headrace/index.h"
#include "headrace/status.h"
#include "shard/compression.h"

namespace headrace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads up to `size` bytes to `data`; fewer only at the end of data or just before a failure.
  virtual Result<std::size_t> read(std::uint8_t* data, std::size_t size) = 0;
  /// What of it can be had without waiting for a disk, which may be less than `size`; nothing when not even one byte can
  /// (then call read(), on an IO thread).
  virtual std::optional<Result<std::size_t>> try_read(std::uint8_t* data, std::size_t size) = 0;
  /// Goes to byte `offset` of the uncompressed stream; compressed sources inflate from the start.
  virtual Status seek(std::uint64_t offset) = 0;
  /// The same; sources that inflate begin at the nearest of `points` (in order, of this file) where that is less to do.
  virtual Status seek_from(std::span<const SeekPoint> /*points*/, std::uint64_t offset) { return seek(offset); }
  /// Position in the uncompressed stream.
  virtual std::uint64_t position() const = 0;
  /// Bytes left in the uncompressed stream; nothing when that is not known (compressed).
  virtual std::optional<std::uint64_t> remaining() const = 0;
  /// Bytes of the file that were read up to now.
  virtual std::uint64_t file_position() const = 0;
  virtual Compression compression() const = 0;
};

/// Opens `path`. kAuto looks at the first bytes; an explicit compression wins and is an error where the content differs.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path, Compression compression);

}  // namespace headrace

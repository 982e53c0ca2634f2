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
#include "runtime/inflate_probe.h"
#include "shard/compression.h"
#include "shard/stored_file.h"

namespace headrace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads up to `size` bytes to `data`; fewer only at the end of data or just before a failure.
  virtual Result<std::size_t> read(std::uint8_t* data, std::size_t size) = 0;
  /// What of it can be had without waiting for a disk or a network, which may be less than `size`; nothing when not even one byte can
  /// (then call read(), on an IO thread).
  virtual std::optional<Result<std::size_t>> try_read(std::uint8_t* data, std::size_t size) = 0;
  /// Goes to byte `offset` of the uncompressed stream; compressed sources inflate from the start.
  virtual Status seek(std::uint64_t offset) = 0;
  /// The same; sources that inflate begin at the nearest of `points` (in order, of this file) where that is less to do.
  virtual Status seek_from(std::span<const SeekPoint> /*points*/, std::uint64_t offset) { return seek(offset); }
  /// Position in the uncompressed stream; see recover().
  virtual std::uint64_t position() const = 0;
  /// Where the piece of the stream began that can be right while the rest is not: a member of a compressed file.
  virtual std::uint64_t member_begin() const = 0;
  /// Whether that member is right to its end, which is read for it, once.
  virtual Result<bool> member_holds() = 0;
  /// Leaves the member, which does not hold, and goes on where a later one begins that inflates; false: there is none. Bytes
  /// behind a damage have no true position: it goes on a good way behind what the damaged member gave, always at the same.
  virtual Result<bool> recover() = 0;
  /// Bytes left in the uncompressed stream; nothing when that is not known (compressed).
  virtual std::optional<std::uint64_t> remaining() const = 0;
  /// Bytes of the file that were read up to now.
  virtual std::uint64_t file_position() const = 0;
  virtual Compression compression() const = 0;
  /// What inflating cost up to now; nothing of plain files.
  virtual InflateCost inflate_cost() const = 0;
};

/// source->seek(), which goes on with recover() where the stream is damaged before `offset` and `over_damage` is set.
Status seek_to(ByteSource* source, std::uint64_t offset, bool over_damage);

/// Opens `file`. kAuto looks at the first bytes; an explicit compression wins and is an error where the content differs.
/// May wait unless it is a local file.
Result<std::unique_ptr<ByteSource>> open_byte_source(const ShardFile& file, Compression compression);
/// The same for a file that is open.
Result<std::unique_ptr<ByteSource>> open_byte_source(std::unique_ptr<StoredFile> file, Compression compression);

}  // namespace headrace

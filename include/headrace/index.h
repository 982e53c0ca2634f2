// Indexes: where the records of files are, kept in a file of its own for each (docs/formats/index.md). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/status.h"
#include "headrace/verify.h"

namespace headrace {

/// What tells one state of a file from another without reading it.
struct FileIdentity {
  std::uint64_t bytes = 0;       ///< of the file, as it is stored
  std::uint32_t first_word = 0;  ///< its bytes 8 … 11: in a plain file the checksum of the first length
  std::uint32_t last_word = 0;   ///< its last 4 bytes: in a plain file the checksum of the last payload

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// A place in a gzip file from which it can be inflated without what stands before.
struct SeekPoint {
  std::uint64_t stream_offset = 0;   ///< in the uncompressed stream, of the first byte that is had
  std::uint64_t file_offset = 0;     ///< in the file, of the first byte of which no bit was used
  std::uint8_t bits = 0;             ///< of the byte before that one, the high ones, that were not used
  std::vector<std::uint8_t> window;  ///< the bytes of the stream before it, at most 32 KiB

  friend bool operator==(const SeekPoint&, const SeekPoint&) = default;
};

struct RecordIndex {
  std::optional<FileIdentity> identity;  ///< nothing in an index of another program
  std::vector<std::uint32_t> lengths;    ///< of the payloads; the records stand one behind the other
  std::vector<SeekPoint> points = {};    ///< of a gzip file, in order
  std::string path = {};                 ///< of the file that it was read from; empty: of none

  std::uint64_t payload_bytes() const;
  /// Of the uncompressed stream: payloads, headers and checksums.
  std::uint64_t stream_bytes() const;
};

enum class IndexPlace : std::uint8_t {
  kCache = 0,  ///< the cache folder: HEADRACE_CACHE_DIR, else XDG_CACHE_HOME/headrace, else HOME/.cache/headrace
  kBeside,     ///< next to the data, under a hidden name that no pattern of data files matches
};
/// Where the index of the file `path` belongs; kInvalidArgument when there is no cache folder.
Result<std::string> index_path(const std::string& path, IndexPlace place);

/// Reads the whole file, with all checksums. A damage is the failure: what has no index can be repaired first.
Result<RecordIndex> build_index(const std::string& path, const VerifyOptions& options = {});
/// Builds it and writes it to its place, atomically; the path of the index.
Result<std::string> write_index(const std::string& path, IndexPlace place, const VerifyOptions& options = {});

/// Reads an index file: ours, or the text that DALI's tfrecord2idx makes. kDataLoss when it is damaged or neither.
Result<RecordIndex> read_index(const std::string& index_path);
/// The index of the file `path` that is there, next to it (ours, or PATH.idx) or in the cache folder; nothing when there is
/// none, or none that is whole and of the file as it is now.
Result<std::optional<RecordIndex>> find_index(const std::string& path);

}  // namespace headrace

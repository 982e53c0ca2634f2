// Compressor: bytes to a compressed stream, in pieces. It writes no file.
//
// One caller at a time. What make_compressor() makes is what an Inflater of the same format reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "headrace/status.h"
#include "shard/compression.h"

namespace headrace {

class Compressor {
 public:
  /// Takes compressed bytes; its failure ends run().
  using Write = std::function<Status(std::span<const std::uint8_t>)>;

  virtual ~Compressor() = default;
  /// Gives what comes out for `bytes` to `write`; with `end` also all that was held back. Nothing may follow the end.
  virtual Status run(std::span<const std::uint8_t> bytes, bool end, const Write& write) = 0;
};

/// Null for kNone and kAuto. Without a level: 6 for gzip and zlib, 3 for zstd; the others have none. kInvalidArgument: a level
/// outside 0 … 9, for zstd 1 … 19, or a format that this build lacks.
Result<std::unique_ptr<Compressor>> make_compressor(Compression format, std::optional<int> level);

std::unique_ptr<Compressor> make_zlib_compressor(Compression format, int level);  ///< kGzip or kZlib
std::unique_ptr<Compressor> make_zstd_compressor(int level);                      ///< null when the build has none
std::unique_ptr<Compressor> make_snappy_compressor();                             ///< null when the build has none

}  // namespace headrace

// Compression: how the bytes of a shard are stored. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/status.h"

namespace headrace {

enum class Compression : std::uint8_t { kAuto = 0, kNone, kGzip, kZlib, kZstd, kSnappy };
constexpr std::size_t kCompressions = 6;

/// "auto", "none", "gzip", "zlib", "zstd", "snappy".
const char* compression_name(Compression compression);
/// Whether this build reads and writes it.
bool has_compression(Compression compression);
/// What to say where it does not.
Status lacks_compression(Compression compression);

}  // namespace headrace

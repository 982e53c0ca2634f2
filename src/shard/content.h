// What the first bytes of a file say about it. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shard/byte_source.h"

namespace headrace {

/// Bytes that the functions below want to see, where the file has them.
constexpr std::size_t kContentBytes = 512;

/// True when `head` begins with a TFRecord header whose checksum holds.
bool starts_with_record(std::span<const std::uint8_t> head);

/// Any but kAuto. A valid record header is never taken for compression, though the first two bytes of 40,056 as a
/// length are those of a zlib stream.
Compression detect_compression(std::span<const std::uint8_t> head);

/// What it looks like: "gzip data", "a git-lfs pointer", "text", …; empty when nothing is known.
std::string describe_content(std::span<const std::uint8_t> head);

}  // namespace headrace

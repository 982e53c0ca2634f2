// The framing format of snappy streams: chunks of a type byte, a length of 3 bytes and a body. Constants only.
//
// A chunk of data is a masked CRC-32C of the uncompressed bytes (4 bytes) and these bytes, compressed or not, at most 64 KiB.
#pragma once

#include <array>
#include <cstdint>

namespace headrace {

constexpr std::size_t kSnappyHeaderBytes = 4;
constexpr std::size_t kSnappyChecksumBytes = 4;
constexpr std::size_t kSnappyChunkBytes = 64 * 1024;  // uncompressed

/// Chunk types. 0x02 … 0x7F are reserved and must not be skipped, 0x80 … 0xFD are reserved and may be.
enum SnappyChunk : std::uint8_t {
  kSnappyCompressed = 0x00,
  kSnappyUncompressed = 0x01,
  kSnappyFirstSkippable = 0x80,
  kSnappyPadding = 0xFE,
  kSnappyIdentifier = 0xFF,
};

/// The chunk that begins every stream.
constexpr std::array<std::uint8_t, 10> kSnappyStart = {0xFF, 0x06, 0x00, 0x00, 's', 'N', 'a', 'P', 'p', 'Y'};

}  // namespace headrace

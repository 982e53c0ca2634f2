// Inflater: members of a compressed stream to bytes, in pieces. It checks headers, checksums and sizes; it reads no file.
//
// A member is what may stand alone: of gzip and zlib a stream, of zstd a frame, of snappy a chunk.
// One caller at a time. Outcomes of step(): kMore = all input was taken or all room was filled; kMemberEnd = the member is
// complete and its checksum holds; kDamaged = it is not what it claims to be (`reason()` says how), the bytes written
// before are right as far as the format can tell.
#pragma once

#include <cstdint>
#include <memory>

#include "shard/compression.h"

namespace headrace {

class Inflater {
 public:
  enum class Outcome : std::uint8_t { kMore = 1, kMemberEnd, kDamaged };

  virtual ~Inflater() = default;
  /// A new member begins.
  virtual void reset() = 0;
  /// Takes from [*in, *in + *in_size), writes to [*out, *out + *out_size); moves all four.
  virtual Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) = 0;
  /// Behind kMemberEnd: bytes that were taken from the input and stand behind the member.
  virtual std::size_t taken_too_much() const { return 0; }
  virtual const char* reason() const = 0;
  /// Of its state and its window; the formats with small windows need about so much.
  virtual std::size_t memory_bytes() const { return 64 * 1024; }
};

/// Of any format that is compressed, the fastest there is for it; null when there is no memory, or no such library in this
/// build (has_compression()).
std::unique_ptr<Inflater> make_inflater(Compression format);

/// `format` is kGzip or kZlib. Null only when there is no memory.
std::unique_ptr<Inflater> make_zlib_inflater(Compression format);
/// ISA-L's, of the same formats, up to twice as fast; null when the build has none.
std::unique_ptr<Inflater> make_isal_inflater(Compression format);
/// Null when the build has none.
std::unique_ptr<Inflater> make_zstd_inflater();
std::unique_ptr<Inflater> make_snappy_inflater();

}  // namespace headrace

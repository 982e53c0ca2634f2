// Framing: bytes of a TFRecord stream to the places of its records. docs/formats/tfrecord.md has the format.
//
// Pure functions on memory; any thread. The bytes scanned are those just read, while they are in the cache.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/dataset.h"
#include "record/block.h"

namespace headrace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kFooterBytes = 4;
constexpr std::size_t kFrameBytes = kHeaderBytes + kFooterBytes;

/// True when the checksum of the header at `header` holds.
bool header_holds(const std::uint8_t* header);
/// True when the checksum behind the `length` bytes at `payload` holds.
bool payload_holds(const std::uint8_t* payload, std::uint64_t length);
/// Writes the 12 bytes before, and the 4 bytes behind, a payload.
void make_header(std::uint64_t length, std::uint8_t* header);
void make_footer(const std::uint8_t* payload, std::uint64_t length, std::uint8_t* footer);

enum class ScanStop : std::uint8_t {
  kIncomplete = 1,  ///< the record at `next` goes on behind the bytes given
  kBadHeader,       ///< the checksum of the header at `next` is wrong
  kTooLong,         ///< the record at `next` is longer than allowed
  kBadPayload,      ///< the checksum of the payload at `next` is wrong
};

struct Scan {
  ScanStop stop = ScanStop::kIncomplete;
  std::size_t next = 0;      ///< first byte that belongs to no record handed out
  bool has_header = false;   ///< of the record at `next`, with a checksum that holds (or is not checked)
  std::uint64_t length = 0;  ///< of its payload
};

struct ScanOptions {
  Verify verify = Verify::kFull;
  std::uint64_t max_length = UINT32_MAX;
};

/// Appends the whole records in [data + begin, data + size) to `records` until one is incomplete or damaged. The offsets
/// are counted from `data`; `size` <= 4 GiB. With kOff a record of length 0 must still have its right header: otherwise a
/// run of zero bytes would be empty records.
Scan scan_records(const std::uint8_t* data, std::size_t begin, std::size_t size, const ScanOptions& options,
                  std::vector<RecordSpan>* records);

}  // namespace headrace

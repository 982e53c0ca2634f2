#include "record/framing.h"

#include "base/checksum.h"
#include "base/wire.h"

namespace headrace {

bool header_holds(const std::uint8_t* header) { return mask_crc(crc32c(header, 8)) == load_u32(header + 8); }

bool payload_holds(const std::uint8_t* payload, std::uint64_t length) {
  return mask_crc(crc32c(payload, length)) == load_u32(payload + length);
}

void make_header(std::uint64_t length, std::uint8_t* header) {
  store_u64(header, length);
  store_u32(header + 8, mask_crc(crc32c(header, 8)));
}

void make_footer(const std::uint8_t* payload, std::uint64_t length, std::uint8_t* footer) {
  store_u32(footer, mask_crc(crc32c(payload, length)));
}

Scan scan_records(const std::uint8_t* data, std::size_t begin, std::size_t size, const ScanOptions& options,
                  std::vector<RecordSpan>* records) {
  Scan scan{.next = begin};
  const auto stop = [&scan](ScanStop why, bool has_header) {
    scan.stop = why;
    scan.has_header = has_header;
    return scan;
  };
  while (size - scan.next >= kHeaderBytes) {
    const std::uint8_t* header = data + scan.next;
    scan.length = load_u64(header);
    if ((options.verify != Verify::kOff || scan.length == 0) && !header_holds(header)) {
      return stop(ScanStop::kBadHeader, false);
    }
    if (scan.length > options.max_length) return stop(ScanStop::kTooLong, true);
    const std::size_t left = size - scan.next - kHeaderBytes;
    if (left < kFooterBytes || scan.length > left - kFooterBytes) return stop(ScanStop::kIncomplete, true);
    if (options.verify == Verify::kFull && !payload_holds(header + kHeaderBytes, scan.length)) {
      return stop(ScanStop::kBadPayload, true);
    }
    records->push_back({static_cast<std::uint32_t>(scan.next + kHeaderBytes), static_cast<std::uint32_t>(scan.length)});
    scan.next += kFrameBytes + scan.length;
  }
  return stop(ScanStop::kIncomplete, false);
}

}  // namespace headrace

// The memory of a bytes column: string headers with their payload behind them, and the offsets.
//
// A header is TensorFlow's TF_TString of OFFSET type: u32 size << 2 | 2, u32 distance from the header to the bytes, u32
// count, u32 zero twice more; 24 bytes in all. So NumPy, Arrow and TensorFlow read the same bytes without a copy.
// Strings are below 1 GiB (30 bits of size), headers and payload of one column of a slice below 4 GiB (32 bits of distance).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/wire.h"
#include "headrace/status.h"
#include "tensor/copy.h"

namespace headrace {

constexpr std::size_t kStringHeaderBytes = 24;
constexpr std::uint64_t kStringLimit = std::uint64_t{1} << 30;
constexpr std::uint64_t kBytesColumnLimit = (std::uint64_t{1} << 32) - 1;

struct BytesColumnMemory {
  std::uint8_t* headers = nullptr;  ///< the payload follows
  std::uint8_t* offsets = nullptr;  ///< int64 [elements + 1]
  std::int64_t elements = 0;

  std::uint8_t* payload() const { return headers + static_cast<std::size_t>(elements) * kStringHeaderBytes; }
};

/// Bytes of headers and payload, or kResourceExhausted naming `key`.
Result<std::size_t> bytes_column_size(const std::string& key, std::int64_t elements, std::int64_t payload_bytes);

/// Writes strings one after another from `element` on, their bytes from `position` of the payload on.
/// Several may write to one column at once, each its own range. Offset 0 is written by whoever makes the column.
class BytesAppender {
 public:
  BytesAppender(const BytesColumnMemory& memory, std::int64_t element, std::int64_t position, CopyMode mode)
      : header_(memory.headers + static_cast<std::size_t>(element) * kStringHeaderBytes),
        offset_(memory.offsets + static_cast<std::size_t>(element + 1) * sizeof(std::int64_t)),
        payload_(memory.payload()),
        position_(static_cast<std::uint64_t>(position)),
        mode_(mode) {}

  /// `bytes` is below kStringLimit.
  void append(const void* data, std::size_t bytes) {
    std::uint8_t* to = payload_ + position_;
    store_u32(header_, static_cast<std::uint32_t>(bytes << 2 | 2));
    store_u32(header_ + 4, static_cast<std::uint32_t>(to - header_));
    store_u32(header_ + 8, static_cast<std::uint32_t>(bytes));
    store_u32(header_ + 12, 0);
    store_u64(header_ + 16, 0);
    mode_.copy(to, data, bytes);
    position_ += bytes;
    store_u64(offset_, position_);
    header_ += kStringHeaderBytes;
    offset_ += sizeof(std::int64_t);
  }
  void append(std::string_view text) { append(text.data(), text.size()); }

 private:
  std::uint8_t* header_;
  std::uint8_t* offset_;
  std::uint8_t* const payload_;
  std::uint64_t position_;
  const CopyMode mode_;
};

}  // namespace headrace

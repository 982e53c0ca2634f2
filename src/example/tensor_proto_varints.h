// Packed varints of a TensorProto's typed field (int_val, half_val, …) as elements of its dtype.
//
// They are decoded by the kernels of packed_varints.h, block by block, and each block is narrowed while it is in the cache. A
// message need not be padded: what the kernels would read behind its end is copied first. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "example/feature_view.h"
#include "example/packed_varints.h"
#include "headrace/types.h"

namespace headrace {

/// Writes values as elements of a dtype, or, without `out`, checks them; false when one is out of range.
using StoreVarints = bool (*)(const std::int64_t* values, std::size_t count, std::uint8_t* out);

/// For a dtype whose typed field holds varints.
StoreVarints store_of(DType dtype);

/// A block of varints, and the values of it.
class VarintBlocks {
 public:
  /// `readable_end`: of the memory around `packed`.
  VarintBlocks(std::span<const std::uint8_t> packed, const std::uint8_t* readable_end)
      : at_(packed.data()), end_(packed.data() + packed.size()), readable_end_(readable_end) {}

  bool at_end() const { return at_ == end_; }
  /// The next values, valid until the next call; none when a varint is damaged.
  std::span<const std::int64_t> next();

 private:
  static constexpr std::size_t kBlockBytes = 512;

  const std::uint8_t* at_;
  const std::uint8_t* const end_;
  const std::uint8_t* const readable_end_;
  std::array<std::uint8_t, kBlockBytes + kRecordPadding> copy_;  // of a block at the end of the memory
  std::array<std::int64_t, kBlockBytes> values_;
};

}  // namespace headrace

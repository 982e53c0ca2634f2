// The slices of a batch as one piece of bytes, and back: for caches, which hand out the same batch again and again.
//
// The bytes are those of the buffers as they are, behind a description of the columns (docs/formats/cache.md). Pure
// functions, any thread. Columns of views (Feature::view) cannot be encoded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/batch.h"
#include "headrace/status.h"
#include "tensor/buffer_pool.h"

namespace headrace {

std::vector<std::uint8_t> encode_slices(std::span<const Slice> slices);

/// Fresh slices in memory of `pool`. kDataLoss when `bytes` are not what encode_slices() made: no column of the result reaches
/// beyond its buffer, whatever `bytes` hold.
Result<std::vector<Slice>> decode_slices(std::span<const std::uint8_t> bytes, BufferPool& pool);

}  // namespace headrace

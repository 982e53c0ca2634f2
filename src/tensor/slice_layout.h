// SliceLayout: which part of a slice lies in which buffer.
//
// A part is the memory of one array (values of a column, row splits, byte offsets, string headers with their payload).
// Parts below kSmallPart share the first buffer, so that a slice of many scalars is one copy to a device; every larger part
// has a buffer of its own. Every part starts on a kColumnAlignment boundary. docs/design/batch_layout.md has the picture.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "headrace/batch.h"
#include "headrace/status.h"
#include "tensor/buffer_pool.h"

namespace headrace {

constexpr std::size_t kSmallPart = std::size_t{64} << 10;

struct Placement {
  std::size_t buffer = 0;
  std::size_t offset = 0;
};

struct SliceLayout {
  std::vector<Placement> parts;           ///< one per part, in the order given
  std::vector<std::size_t> buffer_bytes;  ///< size of each buffer
};

SliceLayout make_slice_layout(std::span<const std::size_t> part_bytes);

/// Memory of the parts of one slice.
struct PlacedPart {
  std::uint8_t* data = nullptr;
  BufferPtr buffer;
};

/// Memory for `bytes` of a batch, or kResourceExhausted.
Result<BufferPtr> allocate_buffer(std::size_t bytes, BufferPool& pool);

/// Buffers for the parts, one PlacedPart each; kResourceExhausted when the system has no memory.
Result<std::vector<PlacedPart>> allocate_parts(std::span<const std::size_t> part_bytes, BufferPool& pool);

}  // namespace headrace

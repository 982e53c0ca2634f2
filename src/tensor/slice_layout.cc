#include "tensor/slice_layout.h"

#include <string>

namespace headrace {

SliceLayout make_slice_layout(std::span<const std::size_t> part_bytes) {
  SliceLayout layout;
  layout.parts.reserve(part_bytes.size());
  layout.buffer_bytes.push_back(0);
  for (const std::size_t bytes : part_bytes) {
    if (bytes >= kSmallPart) {
      layout.parts.push_back({layout.buffer_bytes.size(), 0});
      layout.buffer_bytes.push_back(bytes);
      continue;
    }
    std::size_t& shared = layout.buffer_bytes[0];
    const std::size_t offset = (shared + kColumnAlignment - 1) / kColumnAlignment * kColumnAlignment;
    layout.parts.push_back({0, offset});
    shared = offset + bytes;
  }
  return layout;
}

Result<BufferPtr> allocate_buffer(std::size_t bytes, BufferPool& pool) {
  // One byte at least, so that a column without elements still has an address.
  BufferPtr buffer = pool.acquire(bytes > 0 ? bytes : 1);
  if (buffer != nullptr) return buffer;
  return Status(StatusCode::kResourceExhausted, "no memory for a batch buffer of " + std::to_string(bytes) + " bytes");
}

Result<std::vector<PlacedPart>> allocate_parts(std::span<const std::size_t> part_bytes, BufferPool& pool) {
  const SliceLayout layout = make_slice_layout(part_bytes);
  std::vector<BufferPtr> buffers;
  buffers.reserve(layout.buffer_bytes.size());
  for (const std::size_t bytes : layout.buffer_bytes) {
    HEADRACE_ASSIGN_OR_RETURN(BufferPtr buffer, allocate_buffer(bytes, pool));
    buffers.push_back(std::move(buffer));
  }
  std::vector<PlacedPart> parts;
  parts.reserve(part_bytes.size());
  for (const Placement& at : layout.parts) {
    parts.push_back({buffers[at.buffer]->data() + at.offset, buffers[at.buffer]});
  }
  return parts;
}

}  // namespace headrace

// The accessors of include/headrace/batch.h.
#include <bit>

#include "base/wire.h"
#include "headrace/batch.h"
#include "tensor/bytes_column.h"

namespace headrace {

std::string_view Column::bytes_at(std::int64_t i) const {
  if (is_view()) {
    const std::uint8_t* header = values.data + static_cast<std::size_t>(i) * kStringHeaderBytes;
    return {std::bit_cast<const char*>(load_u64(header + 8)), load_u64(header) >> 2};
  }
  const std::uint8_t* at = byte_offsets.data + static_cast<std::size_t>(i) * sizeof(std::int64_t);
  const std::uint64_t begin = load_u64(at);
  const std::uint64_t end = load_u64(at + sizeof(std::int64_t));
  return {reinterpret_cast<const char*>(payload) + begin, end - begin};
}

const Column* Slice::find(std::string_view name) const {
  for (const Column& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

}  // namespace headrace

#include "tensor/row_strings.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tensor/bytes_column.h"
#include "tensor/element_writer.h"
#include "tensor/parse_errors.h"
#include "tensor/slice_layout.h"

namespace headrace {
namespace {

constexpr std::int64_t kLeastRoom = 4096;

}  // namespace

Result<RowStrings> RowStrings::begin(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows,
                                     StringSizes* sizes, std::shared_ptr<BufferPool> pool) {
  RowStrings all;
  all.pool_ = std::move(pool);
  all.sizes_ = sizes;
  all.columns_.resize(plan.variables.size());
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const VariableColumn& column = plan.variables[i];
    if (!column.is_row_strings) continue;
    for (const std::int64_t rows : replica_rows) {
      Part& part = all.columns_[i].emplace_back();
      part.memory.elements = rows * column.stride;
      const std::string key = plan.features[column.feature].wire_key();
      HEADRACE_RETURN_IF_ERROR(bytes_column_size(key, part.memory.elements, 0).status());
      const std::size_t offset_bytes = (static_cast<std::size_t>(part.memory.elements) + 1) * sizeof(std::int64_t);
      HEADRACE_ASSIGN_OR_RETURN(part.offsets, allocate_buffer(offset_bytes, *all.pool_));
      part.memory.offsets = part.offsets->data();
      store_u64(part.memory.offsets, 0);
      // Batches of about one size: a little more than the largest of late is enough for most.
      const std::int64_t expected = (*sizes)[i].load(std::memory_order_relaxed) * rows;
      HEADRACE_RETURN_IF_ERROR(all.reserve(std::max(kLeastRoom, expected + expected / 32), &part));
    }
  }
  return all;
}

Status RowStrings::write(const ColumnPlan& plan, int replica, std::span<Note> notes, ParseScratch& scratch) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!has(i)) continue;
    const VariableColumn& column = plan.variables[i];
    const Feature& feature = plan.features[column.feature];
    Part& part = columns_[i][static_cast<std::size_t>(replica)];
    Note& note = notes[static_cast<std::size_t>(column.slot)];
    const std::int64_t payload = part.payload + note.bytes;
    if (payload > part.room) {
      HEADRACE_RETURN_IF_ERROR(bytes_column_size(feature.wire_key(), part.memory.elements, payload).status());
      HEADRACE_RETURN_IF_ERROR(reserve(std::max(payload, part.room + part.room / 2), &part));
    }
    ElementWriter writer(column, part.memory, part.element, part.payload, scratch);
    if (note.kind == ListKind::kAbsent) {
      writer.write_fallback();
    } else if (!(feature.kind == FeatureKind::kTensor ? writer.write_tensor(note) : writer.write(note))) {
      return malformed_list(feature.wire_key());
    }
    part.element += note.count;
    part.payload = payload;
    note.data = nullptr;
    note.size = 0;
  }
  return {};
}

Column RowStrings::take_column(const ColumnPlan& plan, int replica, std::size_t variable, std::int64_t rows) {
  const VariableColumn& column = plan.variables[variable];
  const Part& part = columns_[variable][static_cast<std::size_t>(replica)];
  if (rows > 0) {
    std::atomic<std::int64_t>& size = (*sizes_)[variable];
    const std::int64_t kept = size.load(std::memory_order_relaxed);
    size.store(std::max(part.payload / rows + 1, kept - kept / 16), std::memory_order_relaxed);
  }
  Column taken;
  taken.name = plan.features[column.feature].name;
  Shape shape{rows};
  shape.insert(shape.end(), column.inner_shape.begin(), column.inner_shape.end());
  taken.values = Tensor{DType::kBytes, std::move(shape), part.memory.values, part.values};
  taken.payload = BytesColumnMemory{part.memory.values, part.memory.offsets, part.memory.elements}.payload();
  taken.byte_offsets = Tensor{DType::kInt64, {part.memory.elements + 1}, part.memory.offsets, part.offsets};
  return taken;
}

// Headers know how far their bytes are, so that what is written can be moved as a whole.
Status RowStrings::reserve(std::int64_t payload, Part* part) const {
  const std::size_t headers = static_cast<std::size_t>(part->memory.elements) * kStringHeaderBytes;
  // Never more room than a column may have: what does not fit is then seen by write().
  const std::size_t room = std::min(static_cast<std::size_t>(payload), kBytesColumnLimit - headers);
  HEADRACE_ASSIGN_OR_RETURN(BufferPtr values, allocate_buffer(headers + room, *pool_));
  if (part->element > 0) {
    std::memcpy(values->data(), part->memory.values, static_cast<std::size_t>(part->element) * kStringHeaderBytes);
    std::memcpy(values->data() + headers, part->memory.values + headers, static_cast<std::size_t>(part->payload));
  }
  part->values = std::move(values);
  part->memory.values = part->values->data();
  part->room = static_cast<std::int64_t>(room);
  return {};
}

}  // namespace headrace

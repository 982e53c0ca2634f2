#include "tensor/variable_columns.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tensor/bytes_column.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

// Rows of ragged dimension `dimension` in the slice; behind the last one, the innermost rows.
std::int64_t dimension_rows(const VariableColumn& column, std::span<const NoteSum> totals, std::size_t dimension) {
  const auto slot = static_cast<std::size_t>(column.slot);
  const bool is_noted = column.kind == VariableKind::kOpen || dimension <= column.levels.size();
  if (is_noted) return totals[slot + dimension].count;
  return totals[slot].count / column.stride;
}

Status too_large(const Feature& feature, std::int64_t rows, const Shape& shape) {
  Where where;
  where.key = feature.wire_key();
  where.found = std::to_string(rows) + " rows of shape " + shape_text(shape);
  return Status(StatusCode::kResourceExhausted, "padded column of " + where.found + " is more than memory has", where);
}

Tensor int64_tensor(std::int64_t elements, const PlacedPart& part) {
  return Tensor{DType::kInt64, {elements}, part.data, part.buffer};
}

}  // namespace

Status VariableColumns::allocate(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows,
                                 const RowRanges& ranges, const RowStrings& written, std::span<NoteSum> sums,
                                 BufferPool& pool) {
  const auto slots = static_cast<std::size_t>(plan.slots);
  replicas_.resize(replica_rows.size());
  for (Replica& replica : replicas_) replica.totals.resize(slots);

  // The longest step count is that of the global batch, so that the slices of one batch have one shape.
  std::vector<std::int64_t> longest(slots);
  for (std::size_t segment = 0; segment < ranges.segments().size(); ++segment) {
    Replica& replica = replicas_[static_cast<std::size_t>(ranges.segments()[segment].replica)];
    for (std::size_t slot = 0; slot < slots; ++slot) {
      NoteSum& sum = sums[segment * slots + slot];
      NoteSum& total = replica.totals[slot];
      longest[slot] = std::max(longest[slot], sum.longest);
      std::swap(sum, total);  // `sum` is now what lies before the segment
      total.count += sum.count;
      total.bytes += sum.bytes;
    }
  }

  std::vector<std::size_t> part_bytes;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    Replica& replica = replicas_[r];
    replica.memory.resize(plan.variables.size());
    part_bytes.clear();
    for (std::size_t i = 0; i < plan.variables.size(); ++i) {
      const VariableColumn& column = plan.variables[i];
      replica.memory[i].longest = column.padded_to >= 0 ? column.padded_to
                                                        : longest[static_cast<std::size_t>(column.slot)] /
                                                              std::max<std::int64_t>(column.stride, 1);
      if (column.kind == VariableKind::kOpen) {
        replica.memory[i].open = open_layout(plan.features[column.feature], column, longest);
      }
      replica.first_part.push_back(part_bytes.size());
      if (column.jagged_place > 0 || written.has(i)) continue;
      HEADRACE_RETURN_IF_ERROR(size_column(plan, i, replica_rows[r], &replica, &part_bytes));
    }
    HEADRACE_ASSIGN_OR_RETURN(replica.parts, allocate_parts(part_bytes, pool));
    for (std::size_t i = 0; i < plan.variables.size(); ++i) {
      if (written.has(i)) continue;
      VariableMemory& memory = replica.memory[i];
      if (plan.variables[i].jagged_place > 0) {
        share_memory(plan, i, replica_rows[r], &replica);
        continue;
      }
      const PlacedPart* part = &replica.parts[replica.first_part[i]];
      memory.values = part++->data;
      if (plan.variables[i].dtype == DType::kBytes) memory.offsets = part++->data;
      for (std::int64_t*& splits : memory.splits) splits = reinterpret_cast<std::int64_t*>(part++->data);
      if (plan.variables[i].kind == VariableKind::kSparse) {
        memory.indices = reinterpret_cast<std::int64_t*>(part++->data);
      }
      if (plan.variables[i].jagged_keys > 0) memory.lengths = reinterpret_cast<std::int64_t*>(part->data);
      write_leading_zeros(memory);
    }
  }
  return {};
}

void VariableColumns::share_memory(const ColumnPlan& plan, std::size_t variable, std::int64_t rows, Replica* replica) {
  const NoteSum& total = replica->totals[static_cast<std::size_t>(plan.variables[variable - 1].slot)];
  VariableMemory& memory = replica->memory[variable];
  memory = replica->memory[variable - 1];
  memory.splits[0] += rows;
  memory.lengths += rows;
  memory.elements_before += total.count;
  memory.payload_before += total.bytes;
}

Status VariableColumns::size_column(const ColumnPlan& plan, std::size_t variable, std::int64_t rows, Replica* replica,
                                    std::vector<std::size_t>* part_bytes) const {
  const VariableColumn& column = plan.variables[variable];
  const Feature& feature = plan.features[column.feature];
  VariableMemory& memory = replica->memory[variable];
  const NoteSum& total = replica->totals[static_cast<std::size_t>(column.slot)];
  memory.elements = total.count;
  std::int64_t payload = total.bytes;
  for (std::size_t place = 1; place < column.jagged_keys; ++place) {
    const NoteSum& other = replica->totals[static_cast<std::size_t>(plan.variables[variable + place].slot)];
    memory.elements += other.count;
    payload += other.bytes;
  }
  if (column.kind == VariableKind::kSequence) {
    const std::int64_t row_elements = memory.longest * column.stride;
    std::int64_t padding = 0;
    if (__builtin_mul_overflow(rows, row_elements, &memory.elements) ||
        __builtin_mul_overflow(memory.elements - total.count, static_cast<std::int64_t>(column.padding_string.size()),
                               &padding) ||
        __builtin_add_overflow(payload, padding, &payload)) {
      return too_large(feature, rows, {row_elements});
    }
  }
  if (column.kind == VariableKind::kOpen) {
    HEADRACE_RETURN_IF_ERROR(size_open_column(plan, variable, rows, replica, &payload));
  }
  if (column.dtype == DType::kBytes) {
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t bytes, bytes_column_size(feature.wire_key(), memory.elements, payload));
    part_bytes->push_back(bytes);
    part_bytes->push_back((static_cast<std::size_t>(memory.elements) + 1) * sizeof(std::int64_t));
  } else {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(memory.elements), column.value_bytes, &bytes)) {
      return too_large(feature, rows, {memory.elements});
    }
    part_bytes->push_back(bytes);
  }
  if (column.kind == VariableKind::kSparse) {
    const auto rank = static_cast<std::int64_t>(column.dimensions.size()) + 1;
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(memory.elements, rank * static_cast<std::int64_t>(sizeof(std::int64_t)), &bytes)) {
      return too_large(feature, rows, {memory.elements});
    }
    part_bytes->push_back(static_cast<std::size_t>(bytes));
  }
  if (column.jagged_keys > 0) {
    memory.splits.resize(1);
    const std::size_t lists = static_cast<std::size_t>(rows) * column.jagged_keys;
    part_bytes->push_back((lists + 1) * sizeof(std::int64_t));
    part_bytes->push_back(lists * sizeof(std::int64_t));
  } else if (column.kind == VariableKind::kRagged) {
    memory.splits.resize(column.levels.size() + 1);
  }
  if (column.jagged_keys == 0) {
    for (std::size_t dimension = 0; dimension < memory.splits.size(); ++dimension) {
      const std::int64_t above = dimension == 0 ? rows : dimension_rows(column, replica->totals, dimension);
      part_bytes->push_back((static_cast<std::size_t>(above) + 1) * sizeof(std::int64_t));
    }
  }
  return {};
}

// Elements, splits and padding of a column with open dimensions. What it takes must be in proportion to the records.
Status VariableColumns::size_open_column(const ColumnPlan& plan, std::size_t variable, std::int64_t rows,
                                         Replica* replica, std::int64_t* payload) const {
  const VariableColumn& column = plan.variables[variable];
  const Feature& feature = plan.features[column.feature];
  VariableMemory& memory = replica->memory[variable];
  const NoteSum& total = replica->totals[static_cast<std::size_t>(column.slot)];
  std::int64_t bytes = 0;
  std::int64_t padding = 0;
  memory.splits.resize(static_cast<std::size_t>(memory.open.ragged));
  if (memory.open.ragged == 0) {
    bool is_too_large = false;
    memory.elements = rows;
    for (const std::int64_t size : memory.open.shape) {
      is_too_large = __builtin_mul_overflow(memory.elements, size, &memory.elements) || is_too_large;
    }
    is_too_large = is_too_large ||
                   __builtin_mul_overflow(memory.elements - total.count,
                                          static_cast<std::int64_t>(column.padding_string.size()), &padding) ||
                   __builtin_add_overflow(*payload, padding, payload);
    if (is_too_large) return too_large(feature, rows, memory.open.shape);
  }
  if (__builtin_mul_overflow(memory.elements, static_cast<std::int64_t>(size_of(feature.dtype)), &bytes)) {
    return too_large(feature, rows, memory.open.shape);
  }
  for (std::size_t dimension = 1; dimension < memory.splits.size(); ++dimension) {
    bytes += dimension_rows(column, replica->totals, dimension) * static_cast<std::int64_t>(sizeof(std::int64_t));
  }
  return check_invented_bytes(feature, bytes, total.bytes);
}

Column VariableColumns::take_column(const ColumnPlan& plan, int replica_index, std::size_t variable,
                                    std::int64_t rows) const {
  const VariableColumn& source = plan.variables[variable];
  const Replica& replica = replicas_[static_cast<std::size_t>(replica_index)];
  const VariableMemory& memory = replica.memory[variable];
  const PlacedPart* part = &replica.parts[replica.first_part[variable]];

  Column column;
  column.name = plan.features[source.feature].name;
  Shape shape;
  switch (source.kind) {
    case VariableKind::kFixed:
      shape = {rows};
      break;
    case VariableKind::kSequence:
      shape = {rows, memory.longest};
      break;
    case VariableKind::kRagged:
      column.kind = ColumnKind::kRagged;
      shape = {memory.elements / source.stride};
      break;
    case VariableKind::kSparse:
      column.kind = ColumnKind::kSparse;
      column.dense_shape = {rows};
      for (const SparseDimension& dimension : source.dimensions) column.dense_shape.push_back(dimension.size);
      shape = {memory.elements};
      break;
    case VariableKind::kOpen:
      if (!memory.splits.empty()) column.kind = ColumnKind::kRagged;
      shape = {memory.splits.empty() ? rows : dimension_rows(source, replica.totals, memory.splits.size())};
      break;
  }
  shape.insert(shape.end(), memory.open.shape.begin(), memory.open.shape.end());
  shape.insert(shape.end(), source.inner_shape.begin(), source.inner_shape.end());
  column.values = Tensor{source.dtype, std::move(shape), part->data, part->buffer};
  ++part;
  if (source.dtype == DType::kBytes) {
    column.payload = BytesColumnMemory{memory.values, memory.offsets, memory.elements}.payload();
    column.byte_offsets = int64_tensor(memory.elements + 1, *part++);
  }
  if (source.jagged_keys > 0) {
    const std::int64_t lists = rows * source.jagged_keys;
    column.kind = ColumnKind::kJagged;
    column.keys = source.keys;
    column.row_splits = {int64_tensor(lists + 1, part[0]), int64_tensor(lists, part[1])};
    return column;
  }
  for (std::size_t dimension = 0; dimension < memory.splits.size(); ++dimension) {
    const std::int64_t above = dimension == 0 ? rows : dimension_rows(source, replica.totals, dimension);
    column.row_splits.push_back(int64_tensor(above + 1, *part++));
  }
  if (source.kind == VariableKind::kSparse) {
    const auto rank = static_cast<std::int64_t>(column.dense_shape.size());
    column.indices = Tensor{DType::kInt64, {memory.elements, rank}, part->data, part->buffer};
  }
  return column;
}

}  // namespace headrace

#include "tensor/dense_columns.h"

#include <string>
#include <utility>

#include "base/wire.h"

namespace headrace {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::int64_t);

Column dense_column(std::string name, DType dtype, Shape shape, const PlacedPart& part) {
  Column column;
  column.name = std::move(name);
  column.values = Tensor{dtype, std::move(shape), part.data, part.buffer};
  return column;
}

}  // namespace

Result<DenseColumns> DenseColumns::allocate(const ColumnPlan& plan, std::span<const std::int64_t> replica_rows,
                                            BufferPool& pool) {
  DenseColumns columns;
  columns.replicas_.reserve(replica_rows.size());
  std::vector<std::size_t> part_bytes;
  part_bytes.reserve(plan.dense_row_bytes.size() + plan.row_columns.size());
  for (const std::int64_t rows : replica_rows) {
    part_bytes.clear();
    for (const std::size_t row_bytes : plan.dense_row_bytes) {
      std::size_t bytes = 0;
      if (__builtin_mul_overflow(static_cast<std::size_t>(rows), row_bytes, &bytes)) {
        return Status(StatusCode::kResourceExhausted, std::to_string(rows) + " rows of " + std::to_string(row_bytes) +
                                                          " bytes are more than memory has");
      }
      part_bytes.push_back(bytes);
    }
    for (const RowColumn& column : plan.row_columns) {
      part_bytes.push_back(static_cast<std::size_t>(rows) * size_of(column.dtype));
    }
    HEADRACE_ASSIGN_OR_RETURN(std::vector<PlacedPart> parts, allocate_parts(part_bytes, pool));
    columns.replicas_.push_back(std::move(parts));
  }
  return columns;
}

void DenseColumns::set_cursors(const ColumnPlan& plan, const Segment& segment, std::span<std::uint8_t*> cursors) const {
  const std::vector<PlacedPart>& parts = replicas_[static_cast<std::size_t>(segment.replica)];
  std::size_t part = parts.size();
  std::size_t before = 0;  // bytes of the keys of a stack that stand before this one
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const ColumnStep& step = plan.steps[i];
    cursors[i] = nullptr;
    if (!step.dense()) continue;
    if (step.part != part) before = 0;
    part = step.part;
    cursors[i] = parts[part].data + static_cast<std::size_t>(segment.local_begin) * step.column_stride() + before;
    before += step.row_bytes();
  }
}

void DenseColumns::write_row_columns(const ColumnPlan& plan, const Segment& segment, const ParseInput& input) const {
  const std::vector<PlacedPart>& parts = replicas_[static_cast<std::size_t>(segment.replica)];
  const std::size_t first = static_cast<std::size_t>(segment.local_begin) * kNumberBytes;
  std::size_t part = parts.size() - plan.row_columns.size();
  if (plan.schema.origin) {
    std::uint8_t* shard = parts[part++].data + first;
    std::uint8_t* record = parts[part++].data + first;
    for (std::int64_t row = segment.begin; row < segment.end; ++row, shard += kNumberBytes, record += kNumberBytes) {
      const RowOrigin& origin = input.origins[static_cast<std::size_t>(row)];
      store_u64(shard, static_cast<std::uint64_t>(origin.shard));
      store_u64(record, static_cast<std::uint64_t>(origin.record));
    }
  }
  if (plan.schema.index) {
    std::uint8_t* index = parts[part++].data + first;
    for (std::int64_t row = segment.begin; row < segment.end; ++row, index += kNumberBytes) {
      store_u64(index, static_cast<std::uint64_t>(input.numbers[static_cast<std::size_t>(row)]));
    }
  }
  if (plan.schema.mask) {
    std::uint8_t* mask = parts[part].data + segment.local_begin;
    for (std::int64_t row = segment.begin; row < segment.end; ++row) *mask++ = row < input.not_padding ? 1 : 0;
  }
}

Column DenseColumns::take_column(const std::string& name, const ColumnType& type, int replica, std::size_t part,
                                 std::int64_t rows) const {
  Shape shape;
  shape.reserve(type.shape.size() + 1);
  shape.push_back(rows);
  shape.insert(shape.end(), type.shape.begin(), type.shape.end());
  return dense_column(name, type.dtype, std::move(shape), replicas_[static_cast<std::size_t>(replica)][part]);
}

void DenseColumns::append_row_columns(const ColumnPlan& plan, int replica, std::int64_t rows,
                                      std::vector<Column>* columns) const {
  const std::vector<PlacedPart>& parts = replicas_[static_cast<std::size_t>(replica)];
  std::size_t part = parts.size() - plan.row_columns.size();
  for (const RowColumn& column : plan.row_columns) {
    columns->push_back(dense_column(column.name, column.dtype, {rows}, parts[part++]));
  }
}

}  // namespace headrace

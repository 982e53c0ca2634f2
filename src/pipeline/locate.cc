#include "pipeline/locate.h"

namespace headrace {

Where where_of(const RecordId& id, const ShardList& shards) {
  return {.path = shards.files[id.shard].path,
          .record = static_cast<std::int64_t>(id.ordinal),
          .offset = static_cast<std::int64_t>(id.offset)};
}

Status locate(const Status& failure, const RecordBatch& records, const ShardList& shards) {
  std::int64_t row = failure.where().row;
  if (row < 0) return failure;
  for (const RecordRun& run : records.runs) {
    if (row >= run.count) {
      row -= run.count;
      continue;
    }
    return failure.with(where_of(record_id(run, static_cast<std::uint32_t>(row)), shards));
  }
  return failure;
}

Status withhold(const Status& failure, std::int64_t rows) {
  return {failure.code(),
          failure.message() + "; " + std::to_string(rows) +
              " good rows of the same batch were withheld because drop_remainder is on",
          failure.where()};
}

std::int64_t payload_bytes(const RecordBatch& records) {
  std::int64_t bytes = 0;
  for (const RecordRun& run : records.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) bytes += run.block->records[run.first + i].length;
  }
  return bytes;
}

std::int64_t column_bytes(const std::vector<Slice>& slices) {
  std::int64_t bytes = 0;
  for (const Slice& slice : slices) {
    for (const Column& column : slice.columns) {
      bytes += static_cast<std::int64_t>(column.values.bytes());
      for (const Tensor& splits : column.row_splits) bytes += static_cast<std::int64_t>(splits.bytes());
      const Tensor& offsets = column.byte_offsets;
      if (offsets.data == nullptr) continue;
      bytes += static_cast<std::int64_t>(offsets.bytes());
      bytes += reinterpret_cast<const std::int64_t*>(offsets.data)[offsets.elements() - 1];
    }
  }
  return bytes;
}

}  // namespace headrace

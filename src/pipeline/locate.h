// Helpers on whole batches: where a row came from, how large a batch is. Pure functions.
#pragma once

#include "batch/record_batch.h"
#include "headrace/batch.h"
#include "headrace/status.h"
#include "shard/file_list.h"

namespace headrace {

/// File, record and offset.
Where where_of(const RecordId& id, const ShardList& shards);

/// A parse failure with file, record and offset of the row that its where names.
Status locate(const Status& failure, const RecordBatch& records, const ShardList& shards);

/// The failure, whose text now says that `rows` good rows in front of it were not delivered.
Status withhold(const Status& failure, std::int64_t rows);

/// Bytes of all records.
std::int64_t payload_bytes(const RecordBatch& records);

/// Bytes of all columns.
std::int64_t column_bytes(const std::vector<Slice>& slices);

}  // namespace headrace

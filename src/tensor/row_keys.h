// Row keys: the random number of each row, from which features draw. A pure function of the stream's seed, the epoch and
// the record, so that the number of threads, a resume and the batch size do not change it (base/random.h).
#pragma once

#include <cstdint>
#include <vector>

#include "batch/record_batch.h"
#include "headrace/schema.h"

namespace headrace {

struct RandomStream {
  std::uint64_t seed = 0;  ///< of the shuffle; 0 without one
  /// Records of several epochs come mixed, and which is which is not known: batch and row stand for epoch and record.
  bool mixes_epochs = false;
};

/// Whether a feature of the schema draws random numbers.
bool draws_numbers(const Schema& schema);

std::uint64_t row_key(const RandomStream& stream, std::int64_t epoch, std::uint64_t shard, std::uint64_t record);

/// Of the first `rows` rows of a batch.
std::vector<std::uint64_t> row_keys(const RandomStream& stream, const RecordBatch& records, std::int64_t rows);

}  // namespace headrace

#include "tensor/row_keys.h"

#include <algorithm>

#include "base/random.h"

namespace headrace {

bool draws_numbers(const Schema& schema) {
  return std::any_of(schema.features.begin(), schema.features.end(), [](const Feature& feature) {
    return feature.kind == FeatureKind::kImage && feature.image.draws();
  });
}

std::uint64_t row_key(const RandomStream& stream, std::int64_t epoch, std::uint64_t shard, std::uint64_t record) {
  const std::uint64_t in_epoch = random_key(stream.seed, static_cast<std::uint64_t>(epoch));
  return random_u64(random_key(in_epoch, shard), record);
}

std::vector<std::uint64_t> row_keys(const RandomStream& stream, const RecordBatch& records, std::int64_t rows) {
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(rows));
  if (stream.mixes_epochs) {
    for (std::int64_t row = 0; row < rows; ++row) {
      keys.push_back(row_key(stream, records.number, 0, static_cast<std::uint64_t>(row)));
    }
    return keys;
  }
  std::int64_t epoch = records.epoch;
  auto next_epoch = records.later_epochs.begin();
  for (const RecordRun& run : records.runs) {
    for (std::uint32_t i = 0; i < run.count && static_cast<std::int64_t>(keys.size()) < rows; ++i) {
      const auto row = static_cast<std::int64_t>(keys.size());
      if (next_epoch != records.later_epochs.end() && next_epoch->row == row) {
        epoch = next_epoch++->epoch;
      }
      const RecordId id = record_id(run, i);
      keys.push_back(row_key(stream, epoch, id.shard, id.ordinal));
    }
  }
  return keys;
}

}  // namespace headrace

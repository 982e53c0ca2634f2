// Which rows of a batch are parsed, and by how many tasks.
#include <algorithm>
#include <utility>

#include "pipeline/executor.h"
#include "pipeline/locate.h"
#include "pipeline/rows_here.h"

namespace headrace {
namespace {

// A task this long is worth its hand-over (about 5 us) and still lets several threads share one batch.
constexpr std::int64_t kTaskNs = 150'000;
constexpr std::int64_t kLeastTaskBytes = std::int64_t{64} << 10;

}  // namespace

ReplicaPlan Executor::parsed_plan(const ExecutorParts& parts) {
  ReplicaPlan plan = parts.replicas;
  if (parts.parses_all) {
    plan.first = 0;
    plan.local = std::nullopt;
  }
  return plan;
}

RowsHere Executor::rows_here(const RecordBatch& records, std::int64_t rows) const {
  return {parsed_plan_, rows, records.full_rows};
}

ParseInput Executor::parse_input(InFlight* batch, std::int64_t rows) const {
  const RecordBatch& records = batch->records;
  const RowsHere here = rows_here(records, rows);
  ParseInput input;
  input.pin = batch->pin;
  if (has_late_rows(records)) {
    batch->late.emplace(records, here, parts_.loader, parts_.blocks);
    input.loader = &*batch->late;
  }
  input.rows.reserve(static_cast<std::size_t>(records.rows));
  for (const RecordRun& run : records.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      input.rows.push_back(run.block->payload(run.first + i));
      if (!parts_.origin) continue;
      const RecordId id = record_id(run, i);
      input.origins.push_back({id.shard, static_cast<std::int64_t>(id.ordinal)});
    }
  }
  input.rows = here.pick(std::move(input.rows));
  if (parts_.origin) input.origins = here.pick(std::move(input.origins));
  if (parts_.draws) input.row_keys = here.pick(row_keys(*parts_.draws, records, records.rows));
  if (records.numbers) {
    for (std::int64_t row = 0; row < here.size(); ++row) {
      input.numbers.push_back(records.numbers->first + here.record_of(row) * records.numbers->step);
    }
  }
  input.not_padding = here.not_padding();
  input.replica_rows = here.replica_rows();
  return input;
}

void Executor::keep_local(std::vector<Slice>* slices) const {
  if (!parts_.parses_all) return;
  const auto begin = slices->begin() + static_cast<std::ptrdiff_t>(parts_.replicas.first);
  slices->erase(begin + static_cast<std::ptrdiff_t>(parts_.replicas.count()), slices->end());
  slices->erase(slices->begin(), begin);
}

Status Executor::in_global_batch(const Status& failure, const InFlight& batch) const {
  Where where = failure.where();
  if (where.row < 0) return failure;
  where.row = rows_here(batch.records, batch.records.rows).record_of(where.row);
  return {failure.code(), failure.message(), std::move(where)};
}

void Executor::count_parsed(const InFlight& batch) {
  const std::int64_t records = rows_here(batch.records, batch.rows).not_padding();
  const std::int64_t all = std::max<std::int64_t>(1, batch.records.rows);
  parts_.parse->add(records, payload_bytes(batch.records) * records / all);
}

std::int64_t Executor::rows_per_task(const RecordBatch& records) const {
  const std::int64_t worth = kTaskNs / std::max<std::int64_t>(1, ns_per_row_.load(std::memory_order_relaxed));
  // Of small records, a few that took long are chance: only large ones get tasks of less than 64 rows.
  const std::int64_t bytes = std::max<std::int64_t>(1, payload_bytes(records));
  const std::int64_t least = std::clamp<std::int64_t>(kLeastTaskBytes * records.rows / bytes, 1, 64);
  return std::clamp(worth, least, std::max(least, records.rows));
}

}  // namespace headrace

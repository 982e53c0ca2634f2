#include "tensor/padded_rows.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "example/feature_view.h"
#include "tensor/on_threads.h"

namespace headrace {
namespace {

constexpr std::size_t kRowsPerTask = 256;

const std::uint8_t* begin_of(std::string_view record) { return reinterpret_cast<const std::uint8_t*>(record.data()); }

void copy_padded(std::string_view record, std::uint8_t* to) {
  if (!record.empty()) std::memcpy(to, record.data(), record.size());
  std::memset(to + record.size(), 0, kRecordPadding);
}

}  // namespace

std::vector<RecordBytes> rows_in_place(std::span<const std::string_view> records) {
  std::vector<RecordBytes> rows(records.size());
  // From the back: how far the bytes that are known to be readable go on behind a record.
  const std::uint8_t* run_begin = nullptr;
  const std::uint8_t* run_end = nullptr;
  for (std::size_t row = records.size(); row-- > 0;) {
    const std::string_view record = records[row];
    rows[row] = {static_cast<const std::uint8_t*>(nullptr), record.size()};
    if (record.empty()) continue;
    const std::uint8_t* begin = begin_of(record);
    const std::uint8_t* end = begin + record.size();
    if (end != run_begin) run_end = end;
    run_begin = begin;
    if (static_cast<std::size_t>(run_end - end) >= kRecordPadding) rows[row] = {begin, record.size()};
  }
  return rows;
}

Result<PaddedRows> pad_rows(std::span<const std::string_view> records, BufferPool& pool, int num_threads,
                            bool copy_all) {
  PaddedRows padded;
  padded.rows = copy_all ? std::vector<RecordBytes>(records.size()) : rows_in_place(records);
  std::vector<std::pair<std::size_t, std::size_t>> to_copy;  // row, place of its copy
  std::size_t copy_bytes = 0;
  for (std::size_t row = 0; row < records.size(); ++row) {
    if (padded.rows[row].data() != nullptr) continue;
    to_copy.emplace_back(row, copy_bytes);
    copy_bytes += records[row].size() + kRecordPadding;
  }
  padded.copied = static_cast<std::int64_t>(to_copy.size());
  if (to_copy.empty()) return padded;

  padded.copies = pool.acquire(copy_bytes);
  if (padded.copies == nullptr) {
    return Status(StatusCode::kResourceExhausted, "no memory for " + std::to_string(copy_bytes) + " bytes of records");
  }
  const auto tasks = static_cast<int>((to_copy.size() + kRowsPerTask - 1) / kRowsPerTask);
  run_on_threads(tasks, num_threads, [&](int task) {
    const std::size_t first = static_cast<std::size_t>(task) * kRowsPerTask;
    for (std::size_t i = first; i < std::min(first + kRowsPerTask, to_copy.size()); ++i) {
      const auto [row, place] = to_copy[i];
      std::uint8_t* to = padded.copies->data() + place;
      copy_padded(records[row], to);
      padded.rows[row] = {to, records[row].size()};
    }
  });
  return padded;
}

Result<RecordBytes> PaddingLoader::load(std::size_t row, RowMemory* memory) {
  const std::string_view record = records_[row];
  const std::size_t room = record.size() + kRecordPadding;
  if (memory->size() < room) memory->resize(room);
  copy_padded(record, memory->data());
  return RecordBytes(memory->data(), record.size());
}

std::uint8_t* PaddingLoader::room(std::size_t bytes) {
  MutexLock lock(mutex_);
  return parts_.emplace_back(bytes).data();
}

}  // namespace headrace

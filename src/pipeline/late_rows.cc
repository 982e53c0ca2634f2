#include "pipeline/late_rows.h"

#include <algorithm>
#include <utility>

#include "runtime/clock.h"

namespace headrace {
namespace {

// Added up by the thread that loads, handed over once a task.
thread_local std::int64_t loading_ns = 0;

}  // namespace

LateRows::LateRows(const RecordBatch& records, const RowsHere& here, RecordLoader* loader, BlockPool* blocks)
    : loader_(loader), blocks_(blocks) {
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(records.rows));
  for (const RecordRun& run : records.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) rows.push_back({run.block, run.first + i, 0, nullptr});
  }
  rows_ = here.pick(std::move(rows));
  open_files();
}

LateRows::~LateRows() {
  {
    MutexLock lock(mutex_);
    blocks_->release(rooms_);
  }
  for (const Row& row : rows_) {
    const RecordRun kept{row.kept, 0, 1};
    if (row.kept != nullptr) blocks_->release({&kept, 1});
  }
}

Result<RecordBytes> LateRows::load(std::size_t row, RowMemory* memory) {
  const Row& wanted = rows_[row];
  const std::size_t room = RecordLoader::room_for(wanted.block->records[wanted.index].length);
  if (memory->size() < room) memory->resize(room);
  return read(wanted, memory->data());
}

Result<RecordBytes> LateRows::load_and_keep(std::size_t row) {
  Row& wanted = rows_[row];
  const std::uint32_t length = wanted.block->records[wanted.index].length;
  if (wanted.kept == nullptr) {
    const std::size_t room = RecordLoader::room_for(length);
    RecordBlock* memory = blocks_->acquire(room);
    if (memory == nullptr) {
      return Status(StatusCode::kResourceExhausted, "no memory for a record of " + std::to_string(room) + " bytes");
    }
    memory->records.push_back({0, length});  // what it holds is known by its row; this is only counted
    blocks_->publish(memory);
    wanted.kept = memory;
  }
  return read(wanted, wanted.kept->data);
}

std::uint8_t* LateRows::room(std::size_t bytes) {
  RecordBlock* const memory = blocks_->acquire(bytes);
  if (memory == nullptr) return nullptr;
  memory->records.push_back({0, static_cast<std::uint32_t>(bytes)});  // what it holds is counted as one record
  blocks_->publish(memory);
  MutexLock lock(mutex_);
  rooms_.push_back({memory, 0, 1});
  return memory->data;
}

std::vector<RecordRun> LateRows::take_kept() {
  std::vector<RecordRun> kept;
  {
    MutexLock lock(mutex_);
    kept.swap(rooms_);
  }
  for (Row& row : rows_) {
    if (row.kept != nullptr) kept.push_back({std::exchange(row.kept, nullptr), 0, 1});
  }
  return kept;
}

void LateRows::open_files() {
  std::vector<std::uint32_t> shards;
  shards.reserve(rows_.size());
  for (const Row& row : rows_) shards.push_back(row.block->shard);
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  files_.reserve(shards.size());
  for (const std::uint32_t shard : shards) files_.push_back(loader_->open(shard));
  for (Row& row : rows_) {
    const auto place = std::lower_bound(shards.begin(), shards.end(), row.block->shard);
    row.file = static_cast<std::uint32_t>(place - shards.begin());
  }
}

Result<RecordBytes> LateRows::read(const Row& row, std::uint8_t* memory) const {
  const Result<std::shared_ptr<const File>>& file = files_[row.file];
  if (!file.ok()) return file.status();
  const std::int64_t begin_ns = now_ns();
  Result<RecordBytes> bytes = loader_->load(**file, *row.block, row.index, memory);
  loading_ns += now_ns() - begin_ns;
  return bytes;
}

bool has_late_rows(const RecordBatch& records) {
  return std::any_of(records.runs.begin(), records.runs.end(),
                     [](const RecordRun& run) { return run.block->located(); });
}

std::int64_t take_loading_ns() { return std::exchange(loading_ns, 0); }

}  // namespace headrace

#include "pipeline/late_rows.h"

#include <algorithm>

#include "runtime/clock.h"

namespace headrace {
namespace {

// Added up by the thread that loads, handed over once a task.
thread_local std::int64_t loading_ns = 0;

class LateRows final : public RowLoader {
 public:
  LateRows(const RecordBatch& records, RecordLoader* loader, BlockPool* blocks) : loader_(loader), blocks_(blocks) {
    rows_.reserve(static_cast<std::size_t>(records.rows));
    for (const RecordRun& run : records.runs) {
      for (std::uint32_t i = 0; i < run.count; ++i) rows_.push_back({run.block, run.first + i, nullptr});
    }
  }
  ~LateRows() override {
    for (const Row& row : rows_) {
      if (row.kept != nullptr) blocks_->discard(row.kept);
    }
  }

  Result<RecordBytes> load(std::size_t row, RowMemory* memory) override {
    const std::size_t room = RecordLoader::room_for(length(row));
    if (memory->size() < room) memory->resize(room);
    return read(rows_[row], memory->data());
  }

  Result<RecordBytes> load_and_keep(std::size_t row) override {
    const std::size_t room = RecordLoader::room_for(length(row));
    RecordBlock* memory = blocks_->acquire(room);
    if (memory == nullptr) {
      return Status(StatusCode::kResourceExhausted, "no memory for a record of " + std::to_string(room) + " bytes");
    }
    rows_[row].kept = memory;
    return read(rows_[row], memory->data);
  }

 private:
  struct Row {
    const RecordBlock* block;
    std::uint32_t index;
    RecordBlock* kept;  // written by the one call for this row
  };

  std::uint32_t length(std::size_t row) const { return rows_[row].block->records[rows_[row].index].length; }

  Result<RecordBytes> read(const Row& row, std::uint8_t* memory) {
    const std::int64_t begin_ns = now_ns();
    Result<RecordBytes> bytes = loader_->load(*row.block, row.index, memory);
    loading_ns += now_ns() - begin_ns;
    return bytes;
  }

  RecordLoader* const loader_;
  BlockPool* const blocks_;
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<RowLoader> make_late_rows(const RecordBatch& records, RecordLoader* loader, BlockPool* blocks) {
  const bool any =
      std::any_of(records.runs.begin(), records.runs.end(), [](const RecordRun& run) { return run.block->located(); });
  return any ? std::make_unique<LateRows>(records, loader, blocks) : nullptr;
}

std::int64_t take_loading_ns() { return std::exchange(loading_ns, 0); }

}  // namespace headrace

// Records of a caller as the parser takes them, with kRecordPadding readable bytes behind each.
//
// A record whose bytes are followed by those of the next one (an Arrow array, a BytesColumn) stays where it is; all others are
// copied, since nothing is known of the memory behind them: before the parse (pad_rows), or one by one as they are parsed
// (PaddingLoader), in memory that stays in the cache. The caller's memory must stay as long as the rows are used.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "headrace/batch.h"
#include "headrace/status.h"
#include "runtime/mutex.h"
#include "tensor/batch_parser.h"
#include "tensor/buffer_pool.h"

namespace headrace {

struct PaddedRows {
  std::vector<RecordBytes> rows;  ///< as many as were given, in their order
  std::int64_t copied = 0;        ///< how many of them are copies
  BufferPtr copies;               ///< their memory
};

/// kResourceExhausted when there is no memory for the copies. Copies on up to `num_threads` threads. With `copy_all` no row stays
/// where it is: columns that point into the rows then need `copies` alone.
Result<PaddedRows> pad_rows(std::span<const std::string_view> records, BufferPool& pool, int num_threads,
                            bool copy_all = false);

/// The rows that pad_rows() leaves where they are; of the others the size alone, without data: PaddingLoader has them.
std::vector<RecordBytes> rows_in_place(std::span<const std::string_view> records);

/// Copies a row when it is parsed. Any thread, as RowLoader says.
class PaddingLoader final : public RowLoader {
 public:
  /// `records` and what they view outlive it.
  explicit PaddingLoader(std::span<const std::string_view> records) : records_(records), kept_(records.size()) {}

  Result<RecordBytes> load(std::size_t row, RowMemory* memory) override;
  Result<RecordBytes> load_and_keep(std::size_t row) override { return load(row, &kept_[row]); }
  std::uint8_t* room(std::size_t bytes) override HEADRACE_EXCLUDES(mutex_);

 private:
  const std::span<const std::string_view> records_;
  std::vector<RowMemory> kept_;  // each written by the one call for its row
  Mutex mutex_;
  std::deque<RowMemory> parts_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace

// BatchParser: turns the records of one batch into the columns of one slice per replica, straight into their final memory.
//
// A ParseJob is one batch on its way. Phases: dense columns first (and counts of the variable ones), then, if the schema has
// variable columns, one prefix sum and a second phase that writes their values in place. In each phase the tasks may run
// concurrently, each exactly once; when all have returned, one thread calls finish_phase().
//   do { for (i < job.tasks()) job.run(i); } while (job.finish_phase());   then  job.take()
// The records must stay readable (with kRecordPadding behind each) until the last run() has returned.
// Failures: the lowest row's, there the first feature in schema order, with key and row in its where; the same at any
// number of tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "batch/record_batch.h"
#include "headrace/batch.h"
#include "headrace/report.h"
#include "headrace/schema.h"
#include "headrace/status.h"
#include "tensor/buffer_pool.h"

namespace headrace {

using RecordBytes = std::span<const std::uint8_t>;

/// Where a row came from, for the columns `_shard` and `_record` (Schema::origin).
struct RowOrigin {
  std::int64_t shard;
  std::int64_t record;
};

/// Memory into which a RowLoader reads one row; reused from row to row.
using RowMemory = std::vector<std::uint8_t>;

/// Reads rows that are not in memory yet: those of ParseInput::rows without data, whose size is known. Each row is loaded by
/// one call; calls for different rows may be concurrent. A virtual call for each such row is nothing beside its read.
class RowLoader {
 public:
  virtual ~RowLoader() = default;
  /// The bytes of row `row`, in `memory`: until the next call with it.
  virtual Result<RecordBytes> load(std::size_t row, RowMemory* memory) = 0;
  /// The same, in memory that stays until the loader goes, or as long as what pins the rows.
  virtual Result<RecordBytes> load_and_keep(std::size_t row) = 0;
  /// Memory that stays as long, for parts of rows; null when there is none. Any thread.
  virtual std::uint8_t* room(std::size_t bytes) = 0;
};

struct ParseInput {
  std::vector<RecordBytes> rows;           ///< row order of the global batch
  RowLoader* loader = nullptr;             ///< when some of them have no data; outlives the job
  std::vector<std::int64_t> replica_rows;  ///< rows of each replica; the sum is rows.size()
  std::shared_ptr<const void> pin;         ///< keeps the rows readable; columns of views (Feature::view) hold it
  std::vector<RowOrigin> origins;          ///< one per row when the schema asks for origin, else empty
  std::vector<std::int64_t> numbers;       ///< one per row when the schema asks for the index, else empty
  std::int64_t not_padding = 0;            ///< of the rows, the first ones, when the schema asks for the mask
  std::vector<std::uint64_t> row_keys;  ///< one per row when a feature draws random numbers, see row_keys.h; else empty
  bool finds_all_misfits = false;       ///< go on behind a row that does not fit, so that misfits() can tell of all
};

class ParseJob {
 public:
  virtual ~ParseJob() = default;
  virtual int tasks() const = 0;
  virtual void run(int task) = 0;
  /// True: another phase follows. False: take() may be called.
  virtual bool finish_phase() = 0;
  /// The slices, one per replica; or the failure.
  virtual Result<std::vector<Slice>> take() = 0;
  /// Instead of take(), with ParseInput::finds_all_misfits: the failures of rows that do not fit the schema, in row order,
  /// with their rows. Rows that fit are never among them; whether others are found without these, the next parse tells.
  virtual std::vector<Status> misfits() const { return {}; }
};

class BatchParser {
 public:
  virtual ~BatchParser() = default;
  /// Any thread. `rows_per_task`: see RowRanges.
  virtual std::unique_ptr<ParseJob> begin(ParseInput input, std::int64_t rows_per_task) = 0;
  /// Whether a job may look at a row again after the task that read it first: of a row that is loaded late, some or all is
  /// then kept.
  virtual bool borrows_rows() const { return false; }
  /// What the transforms of each feature that has some took up to now. Any thread.
  virtual std::vector<TransformReport> transform_reports() const { return {}; }
};

/// Parses Examples by `schema` (validated). Buffers come from `pool`.
std::unique_ptr<BatchParser> make_example_parser(const Schema& schema, std::shared_ptr<BufferPool> pool);
/// No parsing: one bytes column named "" with the records themselves.
std::unique_ptr<BatchParser> make_records_parser(std::shared_ptr<BufferPool> pool);

}  // namespace headrace

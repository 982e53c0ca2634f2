// parse_example(), parse_single_example(): the pipeline's parser on bytes of the caller.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "headrace/example.h"
#include "runtime/fork.h"
#include "tensor/batch_parser.h"
#include "tensor/on_threads.h"
#include "tensor/padded_rows.h"
#include "tensor/row_keys.h"

namespace headrace {
namespace {

// Records of a task; of images that is one, of small records some hundred.
constexpr std::size_t kBytesPerTask = std::size_t{64} << 10;

// Who parses batch after batch finds the memory of the last ones again, without a fault per page.
constexpr std::int64_t kKeptBytes = std::int64_t{64} << 20;

struct KeptPool {
  const BirthProcess birth{};
  std::shared_ptr<BufferPool> pool = std::make_shared<BufferPool>(kKeptBytes);
};

std::shared_ptr<BufferPool> pool_of_this_thread() {
  thread_local std::optional<KeptPool> kept;
  if (kept && kept->birth.is_parent()) never_destroy(std::move(kept->pool));
  if (!kept || kept->pool == nullptr) kept.emplace();
  return kept->pool;
}

std::int64_t rows_per_task(std::span<const std::string_view> serialized) {
  std::size_t bytes = 1;
  for (const std::string_view record : serialized) bytes += record.size();
  return static_cast<std::int64_t>(kBytesPerTask * serialized.size() / bytes) + 1;
}

// Every index begins with the row, which is 0: what follows moves up in place.
void drop_row_of_indices(Column* column) {
  const std::int64_t values = column->indices.shape[0];
  const std::int64_t rank = column->indices.shape[1];
  auto* to = reinterpret_cast<std::int64_t*>(column->indices.data);
  const std::int64_t* from = to;
  for (std::int64_t value = 0; value < values; ++value, from += rank) to = std::copy(from + 1, from + rank, to);
  column->indices.shape[1] = rank - 1;
  column->dense_shape = Shape(column->dense_shape.begin() + 1, column->dense_shape.end());
}

void drop_batch_dimension(Column* column) {
  switch (column->kind) {
    case ColumnKind::kDense: {
      const Shape& shape = column->values.shape;
      column->values.shape = Shape(shape.begin() + 1, shape.end());
      return;
    }
    case ColumnKind::kRagged:
      column->row_splits.erase(column->row_splits.begin());
      if (column->row_splits.empty()) column->kind = ColumnKind::kDense;
      return;
    case ColumnKind::kSparse:
      return drop_row_of_indices(column);
    case ColumnKind::kJagged:  // one row of every key: its form does not change
      return;
  }
}

Status without_row(const Status& failure) {
  Where where = failure.where();
  where.row = -1;
  return {failure.code(), failure.message(), std::move(where)};
}

}  // namespace

Result<Slice> parse_example(std::span<const std::string_view> serialized, const Schema& schema, int num_threads) {
  HEADRACE_RETURN_IF_ERROR(schema.validate());
  if (schema.origin) return invalid_argument("origin: serialized examples of the caller come from no shard");
  HEADRACE_RETURN_IF_ERROR(check_num_threads(num_threads));
  const std::shared_ptr<BufferPool> pool = pool_of_this_thread();
  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, pool);
  ParseInput input;
  std::optional<PaddingLoader> loader;
  if (parser->borrows_rows()) {
    HEADRACE_ASSIGN_OR_RETURN(PaddedRows padded, pad_rows(serialized, *pool, num_threads, schema.has_views()));
    input.rows = std::move(padded.rows);
    input.pin = padded.copies;
  } else {
    input.rows = rows_in_place(serialized);
    input.loader = &loader.emplace(serialized);
  }
  input.replica_rows = {static_cast<std::int64_t>(serialized.size())};
  if (draws_numbers(schema)) {
    for (std::size_t row = 0; row < input.rows.size(); ++row) input.row_keys.push_back(row_key({}, 0, 0, row));
  }

  const std::unique_ptr<ParseJob> job = parser->begin(std::move(input), rows_per_task(serialized));
  do {
    run_on_threads(job->tasks(), num_threads, [&job](int task) { job->run(task); });
  } while (job->finish_phase());
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Slice> slices, job->take());
  return std::move(slices.front());
}

Result<Slice> parse_single_example(std::string_view serialized, const Schema& schema) {
  Result<Slice> batch = parse_example({&serialized, 1}, schema);
  if (!batch.ok()) return without_row(batch.status());
  for (Column& column : batch->columns) drop_batch_dimension(&column);
  return batch;
}

}  // namespace headrace

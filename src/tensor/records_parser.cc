// No parsing: the records themselves as one bytes column named "". Sizes are known at once, so there is one phase.
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "tensor/batch_parser.h"
#include "tensor/bytes_column.h"
#include "tensor/parse_errors.h"
#include "tensor/row_ranges.h"
#include "tensor/slice_layout.h"

namespace headrace {
namespace {

class RecordsJob : public ParseJob {
 public:
  RecordsJob(std::shared_ptr<BufferPool> pool, ParseInput input, std::int64_t rows_per_task)
      : pool_(std::move(pool)), input_(std::move(input)), ranges_(input_.replica_rows, rows_per_task) {
    failure_ = begin();
  }

  int tasks() const override { return failure_.ok() ? ranges_.tasks() : 0; }

  void run(int task) override {
    Status& failure = task_failures_[static_cast<std::size_t>(task)];
    RowMemory memory;
    for (std::size_t i = ranges_.first_of(task); i < ranges_.first_of(task + 1) && failure.ok(); ++i) {
      failure = write_segment(i, &memory);
    }
  }

  bool finish_phase() override {
    // Tasks are in row order, each stopped at its first failing row.
    for (const Status& failure : task_failures_) {
      if (failure_.ok()) failure_ = failure;
    }
    return false;
  }

  Result<std::vector<Slice>> take() override {
    if (!failure_.ok()) return failure_;
    std::vector<Slice> slices(input_.replica_rows.size());
    for (std::size_t r = 0; r < slices.size(); ++r) {
      const std::int64_t rows = input_.replica_rows[r];
      slices[r].rows = rows;
      Column& column = slices[r].columns.emplace_back();
      column.values = Tensor{DType::kBytes, {rows}, parts_[r][0].data, parts_[r][0].buffer};
      column.byte_offsets = Tensor{DType::kInt64, {rows + 1}, parts_[r][1].data, parts_[r][1].buffer};
      column.payload = memory_[r].payload();
    }
    return slices;
  }

 private:
  Status write_segment(std::size_t index, RowMemory* memory) {
    const Segment& segment = ranges_.segments()[index];
    BytesAppender appender(memory_[static_cast<std::size_t>(segment.replica)], segment.local_begin, before_[index],
                           mode_);
    for (std::int64_t row = segment.begin; row < segment.end; ++row) {
      Result<RecordBytes> record = input_.rows[static_cast<std::size_t>(row)];
      if (record->data() == nullptr && input_.loader != nullptr)
        record = input_.loader->load(static_cast<std::size_t>(row), memory);
      if (!record.ok()) {
        Where where;
        where.row = row;
        return record.status().with(where);
      }
      appender.append(record->data(), record->size());
    }
    return {};
  }

  Status begin() {
    task_failures_.resize(static_cast<std::size_t>(ranges_.tasks()));
    const std::int64_t rows = std::accumulate(input_.replica_rows.begin(), input_.replica_rows.end(), std::int64_t{0});
    const auto given = static_cast<std::int64_t>(input_.rows.size());
    if (rows != given) {
      return invalid_argument("replicas ask for " + std::to_string(rows) + " rows of " + std::to_string(given));
    }
    std::vector<std::int64_t> payload(input_.replica_rows.size());
    for (const Segment& segment : ranges_.segments()) {
      std::int64_t& bytes = payload[static_cast<std::size_t>(segment.replica)];
      before_.push_back(bytes);
      for (std::int64_t row = segment.begin; row < segment.end; ++row) {
        const std::size_t size = input_.rows[static_cast<std::size_t>(row)].size();
        if (size >= kStringLimit) {
          Where where;
          where.row = row;
          return string_too_long("", size).with(where);
        }
        bytes += static_cast<std::int64_t>(size);
      }
    }
    for (std::size_t r = 0; r < payload.size(); ++r) {
      const std::int64_t replica_rows = input_.replica_rows[r];
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t bytes, bytes_column_size("", replica_rows, payload[r]));
      const std::size_t part_bytes[] = {bytes, (static_cast<std::size_t>(replica_rows) + 1) * sizeof(std::int64_t)};
      HEADRACE_ASSIGN_OR_RETURN(std::vector<PlacedPart> parts, allocate_parts(part_bytes, *pool_));
      memory_.push_back({parts[0].data, parts[1].data, replica_rows});
      store_u64(parts[1].data, 0);
      parts_.push_back(std::move(parts));
    }
    mode_ = CopyMode(pool_->bytes_in_use());
    return {};
  }

  const std::shared_ptr<BufferPool> pool_;
  const ParseInput input_;
  const RowRanges ranges_;
  Status failure_;
  CopyMode mode_;
  std::vector<Status> task_failures_;  // each task writes its own
  std::vector<std::int64_t> before_;   // by segment: payload before it in its replica
  std::vector<BytesColumnMemory> memory_;
  std::vector<std::vector<PlacedPart>> parts_;
};

class RecordsParser : public BatchParser {
 public:
  explicit RecordsParser(std::shared_ptr<BufferPool> pool) : pool_(std::move(pool)) {}

  std::unique_ptr<ParseJob> begin(ParseInput input, std::int64_t rows_per_task) override {
    return std::make_unique<RecordsJob>(pool_, std::move(input), rows_per_task);
  }

 private:
  const std::shared_ptr<BufferPool> pool_;
};

}  // namespace

std::unique_ptr<BatchParser> make_records_parser(std::shared_ptr<BufferPool> pool) {
  return std::make_unique<RecordsParser>(std::move(pool));
}

}  // namespace headrace

// The Example parser's job: phase 1 by row_parser, phase 2 by variable_writer, memory by dense_columns and variable_columns.
//
//   kRows ──finish──▶ kValues (variable columns only) ──finish──▶ kDone ──take──▶ slices or failure
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "tensor/batch_parser.h"
#include "tensor/dense_columns.h"
#include "tensor/open_shape.h"
#include "tensor/parser_state.h"
#include "tensor/row_keys.h"
#include "tensor/row_parser.h"
#include "tensor/task_misfits.h"
#include "tensor/variable_columns.h"
#include "tensor/viewed_memory.h"

namespace headrace {
namespace {

class ExampleJob : public ParseJob {
 public:
  ExampleJob(std::shared_ptr<ParserState> parser, ParseInput input, std::int64_t rows_per_task)
      : parser_(std::move(parser)),
        plan_(*parser_->plan),
        input_(std::move(input)),
        ranges_(writes_strings() ? RowRanges::of_whole_replicas(input_.replica_rows, rows_per_task)
                                 : RowRanges(input_.replica_rows, rows_per_task)) {
    failure_ = begin();
  }

  int tasks() const override { return failure_.ok() ? ranges_.tasks() : 0; }

  void run(int task) override {
    std::unique_ptr<ParseScratch> scratch = parser_->scratches.take();
    scratch->mode = mode_;
    Status& failure = task_failures_[static_cast<std::size_t>(task)];
    const std::size_t first = ranges_.first_of(task);
    for (std::size_t i = first; i < ranges_.first_of(task + 1) && failure.ok(); ++i) {
      const Segment& segment = ranges_.segments()[i];
      failure = phase_ == Phase::kRows ? parse_segment(i, task, segment, *scratch) : write_segment(i, *scratch);
    }
    if (phase_ == Phase::kRows && input_.finds_all_misfits && !failure.ok()) find_misfits(task, failure, *scratch);
    if (phase_ == Phase::kRows) {
      MergedLists& merged = merged_[static_cast<std::size_t>(task)];
      merged = {scratch->reader.take_merged(), scratch->sequence_reader.take_merged()};
    }
    parser_->add_cost(*scratch);
    parser_->scratches.give_back(std::move(scratch));
  }

  bool finish_phase() override {
    // Tasks are in row order and each stopped at its first failing row: the first failure is that of the lowest row.
    for (const Status& failure : task_failures_) {
      if (failure_.ok() && !failure.ok()) failure_ = failure;
    }
    switch (phase_) {
      case Phase::kRows:
        if (plan_.compares_rows) compare_rows();
        if (failure_.ok() && has_second_phase()) {
          failure_ = variable_.allocate(plan_, input_.replica_rows, ranges_, strings_, sums_, *parser_->pool);
          mode_ = CopyMode(parser_->pool->bytes_in_use());
          phase_ = Phase::kValues;
          if (failure_.ok() && ranges_.tasks() > 0) return true;
        }
        break;
      case Phase::kValues:
      case Phase::kDone:
        break;
    }
    phase_ = Phase::kDone;
    return false;
  }

  std::vector<Status> misfits() const override { return join_misfits(misfits_, failure_); }

  Result<std::vector<Slice>> take() override {
    if (!failure_.ok()) return failure_;
    std::vector<Slice> slices(input_.replica_rows.size());
    std::shared_ptr<const ViewedMemory> viewed;
    if (plan_.has_views) viewed = std::make_shared<ViewedMemory>(ViewedMemory{input_.pin, std::move(merged_)});
    for (std::size_t r = 0; r < slices.size(); ++r) {
      const int replica = static_cast<int>(r);
      Slice& slice = slices[r];
      slice.rows = input_.replica_rows[r];
      slice.columns.reserve(plan_.columns.size() + 3);
      for (const PlannedColumn& column : plan_.columns) {
        const ColumnStep& step = plan_.steps[column.step];
        slice.columns.push_back(take_column(column, replica, slice.rows));
        BufferPtr& buffer = slice.columns.back().values.buffer;
        if (step.op == ColumnOp::kView) buffer = pinned(std::move(buffer), viewed);
      }
      dense_.append_row_columns(plan_, replica, slice.rows, &slice.columns);
    }
    return slices;
  }

 private:
  enum class Phase { kRows, kValues, kDone };

  // Of rows that are read late, and of which nothing else has to stay.
  bool writes_strings() const { return input_.loader != nullptr && plan_.has_row_strings && !plan_.points_into_rows; }

  bool has_second_phase() const {
    for (std::size_t i = 0; i < plan_.variables.size(); ++i) {
      if (!strings_.has(i)) return true;
    }
    return false;
  }

  Column take_column(const PlannedColumn& column, int replica, std::int64_t rows) {
    const ColumnStep& step = plan_.steps[column.step];
    if (step.dense()) {
      return dense_.take_column(plan_.schema.features[column.feature].name, plan_.types[column.feature], replica,
                                step.part, rows);
    }
    if (strings_.has(step.variable)) return strings_.take_column(plan_, replica, step.variable, rows);
    return variable_.take_column(plan_, replica, step.variable, rows);
  }

  Status begin() {
    const std::int64_t rows = std::accumulate(input_.replica_rows.begin(), input_.replica_rows.end(), std::int64_t{0});
    const auto given = static_cast<std::int64_t>(input_.rows.size());
    if (rows != given) {
      return invalid_argument("replicas ask for " + std::to_string(rows) + " rows of " + std::to_string(given));
    }
    if (plan_.schema.origin && input_.origins.size() != input_.rows.size()) {
      return invalid_argument("the schema asks for the origin of each row, which is not known here");
    }
    if (plan_.schema.index && input_.numbers.size() != input_.rows.size()) {
      return invalid_argument("the schema asks for the index of each row, which is not known here");
    }
    if (plan_.has_views && input_.pin == nullptr && !input_.rows.empty()) {
      return invalid_argument("the schema asks for views of records that nothing keeps");
    }
    if (draws_numbers(plan_.schema) && input_.row_keys.size() != input_.rows.size()) {
      return invalid_argument("the schema draws random numbers for each row, whose key is not known here");
    }
    HEADRACE_ASSIGN_OR_RETURN(dense_, DenseColumns::allocate(plan_, input_.replica_rows, *parser_->pool));
    if (writes_strings()) {
      HEADRACE_ASSIGN_OR_RETURN(strings_,
                                RowStrings::begin(plan_, input_.replica_rows, &parser_->string_sizes, parser_->pool));
    }
    mode_ = CopyMode(parser_->pool->bytes_in_use());
    task_failures_.resize(static_cast<std::size_t>(ranges_.tasks()));
    misfits_.resize(static_cast<std::size_t>(ranges_.tasks()));
    merged_.resize(static_cast<std::size_t>(ranges_.tasks()));
    noted_.resize(static_cast<std::size_t>(ranges_.tasks()));
    const auto slots = static_cast<std::size_t>(plan_.slots);
    if (slots == 0) return {};
    sums_.resize(ranges_.segments().size() * slots);
    const std::size_t note_bytes = input_.rows.size() * slots * sizeof(Note);
    note_memory_ = parser_->pool->acquire(note_bytes);
    if (note_memory_ == nullptr) {
      return Status(StatusCode::kResourceExhausted,
                    "no memory for the notes of a batch, " + std::to_string(note_bytes) + " bytes");
    }
    return {};
  }

  // A row that is not like row 0 counts like any other failing row: the lowest one wins. Rows below it have been noted.
  void compare_rows() {
    const std::int64_t rows = failure_.ok() ? static_cast<std::int64_t>(input_.rows.size()) : failure_.where().row;
    if (failure_.ok() && open_shapes_agree(plan_, sums_, rows)) return;
    const Status different = check_open_shapes(plan_, notes(), rows);
    if (!different.ok()) failure_ = different;
  }

  // Written by parse_rows before they are read: the memory is taken as it comes.
  Note* notes() const { return note_memory_ == nullptr ? nullptr : reinterpret_cast<Note*>(note_memory_->data()); }

  // From the first failing row of a task on: every row that does not fit, up to a failure of another kind.
  void find_misfits(int task, Status failure, ParseScratch& scratch) {
    TaskMisfits& misfits = misfits_[static_cast<std::size_t>(task)];
    for (std::size_t i = ranges_.first_of(task); i < ranges_.first_of(task + 1); ++i) {
      Segment rest = ranges_.segments()[i];
      while (failure.code() == StatusCode::kSchemaMismatch && failure.where().row >= rest.begin &&
             failure.where().row < rest.end) {
        misfits.found.push_back(failure);
        const std::int64_t behind = failure.where().row + 1;
        rest.local_begin += behind - rest.begin;
        rest.begin = behind;
        failure = rest.rows() > 0 ? parse_segment(i, task, rest, scratch) : Status();
      }
      if (failure.ok() && i + 1 < ranges_.first_of(task + 1)) {
        failure = parse_segment(i + 1, task, ranges_.segments()[i + 1], scratch);
      }
    }
    if (!failure.ok()) misfits.end = failure.where().row;
  }

  /// `segment` is the one of this index or a part of it.
  Status parse_segment(std::size_t index, int task, const Segment& segment, ParseScratch& scratch) {
    const auto slots = static_cast<std::size_t>(plan_.slots);
    dense_.set_cursors(plan_, segment, scratch.cursors);
    dense_.write_row_columns(plan_, segment, input_);
    return parse_rows(
        {plan_, input_.rows, input_.loader, input_.row_keys, segment, notes(),
         std::span(sums_).subspan(index * slots, slots), &noted_[static_cast<std::size_t>(task)], &strings_},
        scratch);
  }

  Status write_segment(std::size_t index, ParseScratch& scratch) {
    const Segment& segment = ranges_.segments()[index];
    const auto slots = static_cast<std::size_t>(plan_.slots);
    const SegmentNotes segment_notes{segment, notes(), slots, std::span(sums_).subspan(index * slots, slots)};
    Status lowest;
    for (std::size_t i = 0; i < plan_.variables.size(); ++i) {
      if (strings_.has(i)) continue;
      const VariableColumn& column = plan_.variables[i];
      const Status written = write_variable(plan_.features[column.feature], column,
                                            variable_.memory(segment.replica, i), segment_notes, scratch);
      if (!written.ok() && (lowest.ok() || written.where().row < lowest.where().row)) lowest = written;
    }
    return lowest;
  }

  const std::shared_ptr<ParserState> parser_;
  const ColumnPlan& plan_;
  const ParseInput input_;
  const RowRanges ranges_;

  // Written by one thread between the phases.
  Phase phase_ = Phase::kRows;
  CopyMode mode_;
  Status failure_;
  DenseColumns dense_;
  VariableColumns variable_;
  RowStrings strings_;  // written by the tasks, each its own replicas
  BufferPtr note_memory_;

  // Each task writes its own part.
  std::vector<Status> task_failures_;
  std::vector<TaskMisfits> misfits_;
  std::vector<MergedLists> merged_;
  std::vector<NoteMemory> noted_;
  std::vector<NoteSum> sums_;  // by segment and slot
};

class ExampleParser : public BatchParser {
 public:
  ExampleParser(const Schema& schema, std::shared_ptr<BufferPool> pool)
      : state_(std::make_shared<ParserState>(schema, std::move(pool))) {}

  std::unique_ptr<ParseJob> begin(ParseInput input, std::int64_t rows_per_task) override {
    return std::make_unique<ExampleJob>(state_, std::move(input), rows_per_task);
  }

  bool borrows_rows() const override { return state_->plan->points_into_rows || state_->plan->slots > 0; }

  std::vector<TransformReport> transform_reports() const override {
    std::vector<TransformReport> reports;
    for (std::size_t i = 0; i < state_->transform_ns.size(); ++i) {
      const std::string& name = state_->plan->features[state_->plan->transformed[i]].name;
      // The keys of a stack follow one another.
      if (reports.empty() || reports.back().feature != name) reports.push_back({name, 0});
      reports.back().busy_seconds += static_cast<double>(state_->transform_ns[i].load()) * 1e-9;
    }
    return reports;
  }

 private:
  const std::shared_ptr<ParserState> state_;
};

}  // namespace

std::unique_ptr<BatchParser> make_example_parser(const Schema& schema, std::shared_ptr<BufferPool> pool) {
  return std::make_unique<ExampleParser>(schema, std::move(pool));
}

}  // namespace headrace

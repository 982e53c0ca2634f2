#include "tensor/transformed_columns.h"

#include <cstring>

namespace headrace {

void begin_staging(const ColumnPlan& plan, ParseScratch& scratch) {
  std::uint8_t* memory = scratch.staging.data();
  for (std::size_t i = 0; i < plan.staged.size(); ++i) {
    const std::uint32_t step = plan.staged[i];
    scratch.staged_to[i] = scratch.cursors[step];
    scratch.cursors[step] = memory;
    memory += plan.steps[step].bytes * kStagedRows;
  }
}

Status finish_staging(const ColumnPlan& plan, ParseScratch& scratch, std::int64_t first_row, std::int64_t rows,
                      std::size_t more_steps) {
  Status failure;
  std::uint8_t* memory = scratch.staging.data();
  for (std::size_t i = 0; i < plan.staged.size(); ++i) {
    const ColumnStep& step = plan.steps[plan.staged[i]];
    const std::size_t stride = step.transforms->stride;
    const std::size_t row_bytes = step.transforms->row_bytes;
    const std::int64_t written = rows + (plan.staged[i] < more_steps ? 1 : 0);
    if (const std::int64_t values = written * step.count; values > 0) {
      // The keys of a stack stand between one another.
      const bool apart = stride != row_bytes;
      std::uint8_t* const rows_at = apart ? scratch.staged_rows.data() : scratch.staged_to[i];
      const BadValue bad = run_transforms(*step.transforms, memory, rows_at, values, scratch);
      if (apart) {
        for (std::size_t row = 0; row < static_cast<std::size_t>(written); ++row) {
          std::memcpy(scratch.staged_to[i] + row * stride, rows_at + row * row_bytes, row_bytes);
        }
      }
      if (bad.index >= 0) [[unlikely]] {
        Where where;
        where.row = first_row + bad.index / step.count;
        if (failure.ok() || where.row < failure.where().row) {
          failure = step.transforms->list.program.failure(plan.features[step.feature], bad.op, bad.index % step.count)
                        .with(where);
        }
      }
    }
    scratch.staged_to[i] += static_cast<std::size_t>(rows) * stride;
    scratch.cursors[plan.staged[i]] = memory;
    memory += step.bytes * kStagedRows;
  }
  return failure;
}

Status transform_row(const Feature& feature, const ColumnStep& step, const std::uint8_t* values, std::uint8_t* slot,
                     ParseScratch& scratch) {
  const BadValue bad = run_transforms(*step.transforms, values, slot, step.count, scratch);
  return bad.index < 0 ? Status() : step.transforms->list.program.failure(feature, bad.op, bad.index);
}

}  // namespace headrace

// Dense columns with transforms, between the wire and the column.
//
// Small rows are staged: phase 1 writes what it reads, as it does for any dense column, to a few rows of scratch memory, and
// every kStagedRows rows the transforms run over them, still hot, to the column: one call of a kernel for 64 rows. Larger
// rows are direct: transformed one by one, packed floats straight from the record.
#pragma once

#include <cstdint>

#include "headrace/status.h"
#include "tensor/column_plan.h"
#include "tensor/parse_scratch.h"

namespace headrace {

/// Turns the cursors of the staged steps, which stand at their columns, to their scratch memory.
void begin_staging(const ColumnPlan& plan, ParseScratch& scratch);

/// Rows first_row … first_row + rows - 1 are in the scratch memory, and of the row behind them the steps before
/// `more_steps`: transforms them, and turns the cursors back to the start. The failure is that of the lowest row, there of
/// the first step, with its row.
Status finish_staging(const ColumnPlan& plan, ParseScratch& scratch, std::int64_t first_row, std::int64_t rows,
                      std::size_t more_steps);

/// The values of one row of a direct step at `values` to `slot`.
Status transform_row(const Feature& feature, const ColumnStep& step, const std::uint8_t* values, std::uint8_t* slot,
                     ParseScratch& scratch);

}  // namespace headrace

// Sparse features (SparseFeature): values of one list at the indices that int64 lists beside it give, one per dimension.
//
// One record's values are sorted by index, the row being the first; equal indices keep the order of the record
// (SEMANTICS.md section 4, "SparseFeature").
#pragma once

#include "headrace/status.h"
#include "tensor/variable_writer.h"

namespace headrace {

/// Phase 1. Each dimension must have as many indices as there are values, all of them below its size.
Status note_sparse(const Feature& feature, const ColumnStep& step, const VariableColumn& column, ParseScratch& scratch,
                   Note* notes);

/// Phase 2, as write_variable.
Status write_sparse(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                    const SegmentNotes& notes, ParseScratch& scratch);

}  // namespace headrace

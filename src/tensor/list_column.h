// Feature lists of SequenceExamples: lists of steps, each step a list of values (SEMANTICS.md section 7).
//
// The notes of one hold its whole list; both phases walk the steps. Dense columns have one note. Those of ragged columns are
// the values, the steps, then one per partition, whose list has a partition for each step.
#pragma once

#include "headrace/status.h"
#include "tensor/variable_writer.h"

namespace headrace {

/// Phase 1. Every step must have the right kind; of a dense column the right number of values, of a ragged one partitions
/// that describe exactly its values.
Status note_feature_list(const Feature& feature, const ColumnStep& step, const VariableColumn& column,
                         std::span<const std::uint8_t> record, ParseScratch& scratch, Note* notes);

/// Phase 2, as write_variable.
Status write_feature_list(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                          const SegmentNotes& notes, ParseScratch& scratch);

}  // namespace headrace

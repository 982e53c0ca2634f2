// Phase 1: the records of one segment, read once each; dense columns are written, variable ones noted.
//
// The hot loop of the engine: per record one read of the keys and one pass over the steps; no allocation, lock, atomic or
// virtual call.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/status.h"
#include "tensor/batch_parser.h"
#include "tensor/note.h"
#include "tensor/note_memory.h"
#include "tensor/row_ranges.h"
#include "tensor/row_strings.h"

namespace headrace {

struct RowParserInput {
  const ColumnPlan& plan;
  std::span<const RecordBytes> rows;        ///< of the whole batch
  RowLoader* loader;                        ///< of rows without data; null when there are none
  std::span<const std::uint64_t> row_keys;  ///< of the whole batch; empty when no feature draws random numbers
  Segment segment;
  Note* notes;              ///< of the whole batch: row * plan.slots + slot
  std::span<NoteSum> sums;  ///< of this segment, by slot; filled here
  NoteMemory* noted;        ///< of rows without data, as the next
  RowStrings* strings;
};

/// Before the call scratch.cursors[i] is the segment's first slot of step i (dense steps). Stops at the first failing row,
/// whose number is then in the where.
Status parse_rows(const RowParserInput& input, ParseScratch& scratch);

}  // namespace headrace

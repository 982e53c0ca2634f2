// Phase 2: the variable columns of one segment, from the notes of phase 1 to their final memory.
//
// Segments of one column may be written at once; each knows from `before` where it starts.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/status.h"
#include "tensor/note.h"
#include "tensor/row_ranges.h"
#include "tensor/variable_memory.h"

namespace headrace {

/// Splits of a ragged column start with 0, and so do offsets: written here, once per column, before any segment.
void write_leading_zeros(const VariableMemory& memory);

/// Sums of what lies before a segment in its replica, by slot; and the segment's notes.
struct SegmentNotes {
  Segment segment;
  const Note* notes;  ///< of the whole batch
  std::size_t slots;
  std::span<const NoteSum> before;

  const Note* at(std::int64_t local, std::int32_t slot) const {
    return notes + static_cast<std::size_t>(segment.begin + local) * slots + static_cast<std::size_t>(slot);
  }
};

/// What phase 2 says of a record that is not what phase 1 noted.
Status changed_record(const Feature& feature, const SegmentNotes& notes, std::int64_t local);

/// A failure only when the records changed since phase 1.
Status write_variable(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                      const SegmentNotes& notes, ParseScratch& scratch);

}  // namespace headrace

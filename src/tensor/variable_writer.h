// Phase 2: the variable columns of one segment, from the notes of phase 1 to their final memory.
//
// Segments of one column may be written at once; each knows from `before` where it starts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/status.h"
#include "tensor/bytes_column.h"
#include "tensor/note.h"
#include "tensor/row_ranges.h"

namespace headrace {

/// Memory of one variable column in one slice.
struct VariableMemory {
  std::uint8_t* values = nullptr;   ///< elements, or headers and payload
  std::uint8_t* offsets = nullptr;  ///< bytes columns: int64 [elements + 1]
  std::int64_t elements = 0;
  std::int64_t longest = 0;           ///< kSequence: steps
  std::vector<std::int64_t*> splits;  ///< kRagged: one per ragged dimension, outermost first
};

/// Splits of a ragged column start with 0, and so do offsets: written here, once, before any segment.
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

/// A failure only when the records changed since phase 1.
Status write_variable(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                      const SegmentNotes& notes, ParseScratch& scratch);

}  // namespace headrace

// NoteMemory: what the notes of one task point into, when the records themselves make room for the next one.
//
// The bytes of a list go from the record, still in the cache, to memory where phase 2 finds them in the order of the rows.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/status.h"
#include "tensor/batch_parser.h"
#include "tensor/copy.h"
#include "tensor/note.h"

namespace headrace {

class NoteMemory {
 public:
  /// Copies what `notes` point to inside `record` to memory of the loader, and lets them point there.
  Status keep(RecordBytes record, std::span<Note> notes, CopyMode mode, RowLoader* loader);

 private:
  std::span<std::uint8_t> left_;  // of what the loader gave last
};

}  // namespace headrace

#include "tensor/note_memory.h"

#include <algorithm>
#include <functional>
#include <string>

namespace headrace {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

bool lies_in(RecordBytes record, const std::uint8_t* data) {
  const std::less<> before;
  return !before(data, record.data()) && !before(record.data() + record.size(), data);  // an empty list may be the end
}

}  // namespace

Status NoteMemory::keep(RecordBytes record, std::span<Note> notes, CopyMode mode, RowLoader* loader) {
  for (Note& note : notes) {
    if (!lies_in(record, note.data)) continue;
    const std::size_t room = note.size + kRecordPadding;
    if (left_.size() < room) {
      const std::size_t bytes = std::max(room, kChunkBytes);
      std::uint8_t* const memory = loader->room(bytes);
      if (memory == nullptr) {
        return Status(StatusCode::kResourceExhausted,
                      "no memory for the lists of a batch, " + std::to_string(bytes) + " bytes");
      }
      left_ = {memory, bytes};
    }
    mode.copy(left_.data(), note.data, note.size);
    note.data = left_.data();
    left_ = left_.subspan(room);
  }
  return {};
}

}  // namespace headrace

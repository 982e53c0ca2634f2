// ElementWriter: the elements of one variable column in row order, numbers at a running address, strings with headers and
// offsets. One per segment and column; several may write to one column at once, each its own range.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/bytes_column.h"
#include "tensor/note.h"
#include "tensor/variable_memory.h"

namespace headrace {

class ElementWriter {
 public:
  /// Starts at `element` of the column, the bytes of strings at `position` of its payload.
  ElementWriter(const VariableColumn& column, const VariableMemory& memory, std::int64_t element, std::int64_t position,
                ParseScratch& scratch);

  /// Writes the values of a list of the column's kind that has at most `limit`, or is cut there by a transform: how many;
  /// -1 when it is malformed or longer.
  std::int64_t write_up_to(const FeatureView& list, std::int64_t limit);
  /// Writes the `count` values of such a list; false when it has another number of them.
  bool write(const FeatureView& list, std::int64_t count) { return write_up_to(list, count) == count; }
  /// Writes a note's values; false when they are no longer what was noted.
  bool write(const Note& note) { return write(note.view(), note.count); }
  /// The same in another order: value order[i] of the note is the i-th one written.
  bool write_in_order(const Note& note, std::span<const std::int64_t> order);
  /// Writes the strings of a TensorProto.
  bool write_tensor(const Note& note);
  /// Writes the column's default, which is one of strings.
  void write_fallback();
  /// Writes the elements of a row from its element `place` on.
  void pad(std::int64_t elements, std::int64_t place);

 private:
  std::int64_t write_transformed(const FeatureView& list, std::int64_t limit, const StepTransforms& transforms);
  std::int64_t write_floats(const FeatureView& list, std::int64_t limit);
  std::int64_t write_strings(const FeatureView& list, std::int64_t limit);
  std::int64_t read_strings(const FeatureView& list, std::int64_t limit);

  const VariableColumn& column_;
  ParseScratch& scratch_;
  const std::size_t size_;
  std::uint8_t* to_ = nullptr;
  std::optional<BytesAppender> strings_;
};

}  // namespace headrace

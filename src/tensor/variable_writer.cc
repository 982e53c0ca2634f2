#include "tensor/variable_writer.h"

#include <cstring>
#include <optional>
#include <string_view>

#include "example/list_decoder.h"
#include "example/scalar_decoder.h"
#include "tensor/parse_errors.h"
#include "tensor/partition.h"

namespace headrace {
namespace {

Status changed(const Feature& feature, const SegmentNotes& notes, std::int64_t local) {
  Where where;
  where.row = notes.segment.begin + local;
  return malformed_list(feature.wire_key()).with(where);
}

// Elements of one column in row order: numbers at a running address, strings through a BytesAppender.
class ElementWriter {
 public:
  ElementWriter(const VariableColumn& column, const VariableMemory& memory, std::int64_t element, std::int64_t position,
                ParseScratch& scratch)
      : column_(column), scratch_(scratch), size_(size_of(column.dtype)) {
    if (column.dtype == DType::kBytes) {
      strings_.emplace(BytesColumnMemory{memory.values, memory.offsets, memory.elements}, element, position,
                       scratch.mode);
    } else {
      to_ = memory.values + static_cast<std::size_t>(element) * size_;
    }
  }

  /// Writes the note's values; false when they are no longer what was noted.
  bool write(const Note& note) {
    if (note.kind == ListKind::kAbsent) return note.count == 0;
    if (strings_) return write_strings(note);
    if (column_.dtype == DType::kInt64) {
      if (decode_int64_list(note.view(), reinterpret_cast<std::int64_t*>(to_), note.count) != note.count) return false;
    } else if (!write_floats(note)) {
      return false;
    }
    to_ += static_cast<std::size_t>(note.count) * size_;
    return true;
  }
  /// Writes the strings of a TensorProto.
  bool write_tensor(const Note& note) {
    if (!read_tensor_proto({note.data, note.size}, &scratch_.tensor).ok()) return false;
    if (!decode_string_tensor(scratch_.tensor, &scratch_.strings).ok()) return false;
    if (static_cast<std::int64_t>(scratch_.strings.size()) != note.count) return false;
    for (const std::string_view text : scratch_.strings) strings_->append(text);
    return true;
  }
  void write_fallback() {
    for (const std::string& text : column_.fallback_strings) strings_->append(text);
  }
  void pad(std::int64_t elements) {
    if (strings_) {
      for (std::int64_t i = 0; i < elements; ++i) strings_->append(column_.padding_string);
      return;
    }
    for (std::int64_t i = 0; i < elements; ++i, to_ += size_) std::memcpy(to_, column_.padding.data(), size_);
  }

 private:
  bool write_floats(const Note& note) {
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0;
    if (decode_bytes_scalar(note.view(), &data, &size) && size == static_cast<std::size_t>(note.count) * size_) {
      scratch_.mode.copy(to_, data, size);
      return true;
    }
    return decode_float_list(note.view(), reinterpret_cast<float*>(to_), note.count) == note.count;
  }
  bool write_strings(const Note& note) {
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0;
    if (note.count == 1 && decode_bytes_scalar(note.view(), &data, &size)) {
      strings_->append(data, size);
      return true;
    }
    scratch_.strings.resize(static_cast<std::size_t>(note.count));
    if (decode_bytes_list(note.view(), scratch_.strings.data(), note.count) != note.count) return false;
    for (const std::string_view text : scratch_.strings) strings_->append(text);
    return true;
  }

  const VariableColumn& column_;
  ParseScratch& scratch_;
  const std::size_t size_;
  std::uint8_t* to_ = nullptr;
  std::optional<BytesAppender> strings_;
};

Status write_fixed(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                   const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  ElementWriter writer(column, memory, before.count, before.bytes, scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note& note = *notes.at(local, column.slot);
    if (note.kind == ListKind::kAbsent) {
      writer.write_fallback();
    } else if (!(feature.kind == FeatureKind::kTensor ? writer.write_tensor(note) : writer.write(note))) {
      return changed(feature, notes, local);
    }
  }
  return {};
}

Status write_sequence(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                      const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  const std::int64_t row_elements = memory.longest * column.stride;
  const std::int64_t element = notes.segment.local_begin * row_elements;
  const auto padding_bytes = static_cast<std::int64_t>(column.padding_string.size());
  ElementWriter writer(column, memory, element, before.bytes + (element - before.count) * padding_bytes, scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note& note = *notes.at(local, column.slot);
    if (!writer.write(note)) return changed(feature, notes, local);
    writer.pad(row_elements - note.count);
  }
  return {};
}

// Row splits of one record in dimension `dimension` (>= 1; 0 is the batch itself).
bool write_level(const VariableColumn& column, const SegmentNotes& notes, std::size_t dimension, std::int64_t local,
                 std::int64_t* inner_base, std::int64_t** ends, ParseScratch& scratch) {
  const RaggedLevel& level = column.levels[dimension - 1];
  const bool innermost = dimension == column.levels.size();
  const Note& note = *notes.at(local, column.slot + static_cast<std::int32_t>(dimension));
  const std::int64_t inner = innermost ? notes.at(local, column.slot)->count / column.stride
                                       : notes.at(local, column.slot + static_cast<std::int32_t>(dimension) + 1)->count;
  scratch.integers.clear();
  if (note.kind == ListKind::kInt64) {
    const std::int64_t entries = count_int64_list(note.view());
    if (entries < 0) return false;
    scratch.integers.resize(static_cast<std::size_t>(entries));
    if (decode_int64_list(note.view(), scratch.integers.data(), entries) != entries) return false;
    const Result<std::int64_t> rows = count_partition_rows(level.kind, level.name, scratch.integers, inner);
    if (!rows.ok() || *rows != note.count) return false;
  }
  write_partition_ends(level.kind, scratch.integers, note.count, inner, *inner_base, *ends);
  *inner_base += inner;
  *ends += note.count;
  return true;
}

Status write_ragged(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                    const SegmentNotes& notes, ParseScratch& scratch) {
  const auto slot = static_cast<std::size_t>(column.slot);
  const NoteSum& before = notes.before[slot];
  ElementWriter writer(column, memory, before.count, before.bytes, scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    if (!writer.write(*notes.at(local, column.slot))) return changed(feature, notes, local);
  }

  // What each ragged dimension counts: rows of the level below it, at the end the innermost rows.
  const std::size_t levels = column.levels.size();
  const auto rows_before = [&](std::size_t level) {  // 1-based; levels + 1: innermost rows
    return level <= levels ? notes.before[slot + level].count : before.count / column.stride;
  };
  std::int64_t* ends = memory.splits[0] + notes.segment.local_begin + 1;
  std::int64_t total = rows_before(1);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    total += levels > 0 ? notes.at(local, column.slot + 1)->count : notes.at(local, column.slot)->count / column.stride;
    *ends++ = total;
  }
  for (std::size_t dimension = 1; dimension <= levels; ++dimension) {
    std::int64_t* level_ends = memory.splits[dimension] + rows_before(dimension) + 1;
    std::int64_t base = rows_before(dimension + 1);
    for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
      if (!write_level(column, notes, dimension, local, &base, &level_ends, scratch)) {
        return changed(feature, notes, local);
      }
    }
  }
  return {};
}

}  // namespace

void write_leading_zeros(const VariableMemory& memory) {
  if (memory.offsets != nullptr) store_u64(memory.offsets, 0);
  for (std::int64_t* splits : memory.splits) *splits = 0;
}

Status write_variable(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                      const SegmentNotes& notes, ParseScratch& scratch) {
  switch (column.kind) {
    case VariableKind::kFixed:
      return write_fixed(feature, column, memory, notes, scratch);
    case VariableKind::kSequence:
      return write_sequence(feature, column, memory, notes, scratch);
    case VariableKind::kRagged:
      break;
  }
  return write_ragged(feature, column, memory, notes, scratch);
}

}  // namespace headrace

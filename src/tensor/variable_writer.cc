#include "tensor/variable_writer.h"

#include "example/list_decoder.h"
#include "tensor/element_writer.h"
#include "tensor/list_column.h"
#include "tensor/open_writer.h"
#include "tensor/parse_errors.h"
#include "tensor/partition.h"
#include "tensor/sparse_feature.h"

namespace headrace {
namespace {

Status write_fixed(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                   const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  ElementWriter writer(column, memory, before.count, before.bytes, scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note& note = *notes.at(local, column.slot);
    if (note.kind == ListKind::kAbsent) {
      writer.write_fallback();
    } else if (!(feature.kind == FeatureKind::kTensor ? writer.write_tensor(note) : writer.write(note))) {
      return changed_record(feature, notes, local);
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
    if (!writer.write(note)) return changed_record(feature, notes, local);
    writer.pad(row_elements - note.count, note.count);
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
  if (!read_int64_list(note.view(), &scratch.integers)) return false;
  if (note.kind == ListKind::kInt64) {
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
  ElementWriter writer(column, memory, memory.elements_before + before.count, memory.payload_before + before.bytes,
                       scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    if (!writer.write(*notes.at(local, column.slot))) return changed_record(feature, notes, local);
  }

  // What each ragged dimension counts: rows of the level below it, at the end the innermost rows.
  const std::size_t levels = column.levels.size();
  const auto rows_before = [&](std::size_t level) {  // 1-based; levels + 1: innermost rows
    return level <= levels ? notes.before[slot + level].count : before.count / column.stride;
  };
  std::int64_t* ends = memory.splits[0] + notes.segment.local_begin + 1;
  std::int64_t total = memory.elements_before + rows_before(1);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    total += levels > 0 ? notes.at(local, column.slot + 1)->count : notes.at(local, column.slot)->count / column.stride;
    *ends++ = total;
  }
  if (memory.lengths != nullptr) {
    std::int64_t* lengths = memory.lengths + notes.segment.local_begin;
    for (std::int64_t local = 0; local < notes.segment.rows(); ++local)
      *lengths++ = notes.at(local, column.slot)->count;
  }
  for (std::size_t dimension = 1; dimension <= levels; ++dimension) {
    std::int64_t* level_ends = memory.splits[dimension] + rows_before(dimension) + 1;
    std::int64_t base = rows_before(dimension + 1);
    for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
      if (!write_level(column, notes, dimension, local, &base, &level_ends, scratch)) {
        return changed_record(feature, notes, local);
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

Status changed_record(const Feature& feature, const SegmentNotes& notes, std::int64_t local) {
  Where where;
  where.row = notes.segment.begin + local;
  return malformed_list(feature.wire_key()).with(where);
}

Status write_variable(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                      const SegmentNotes& notes, ParseScratch& scratch) {
  if (feature.feature_list) return write_feature_list(feature, column, memory, notes, scratch);
  switch (column.kind) {
    case VariableKind::kFixed:
      return write_fixed(feature, column, memory, notes, scratch);
    case VariableKind::kSequence:
      return write_sequence(feature, column, memory, notes, scratch);
    case VariableKind::kSparse:
      return write_sparse(feature, column, memory, notes, scratch);
    case VariableKind::kOpen:
      return write_open(feature, column, memory, notes, scratch);
    case VariableKind::kRagged:
      break;
  }
  return write_ragged(feature, column, memory, notes, scratch);
}

}  // namespace headrace

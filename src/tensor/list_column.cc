#include "tensor/list_column.h"

#include <algorithm>

#include "example/list_decoder.h"
#include "tensor/element_writer.h"
#include "tensor/parse_errors.h"
#include "tensor/partition.h"

namespace headrace {
namespace {

FeatureListView list_of(const Note& note) { return {note.data, note.size}; }

void note_whole_list(const FeatureListView& list, Note* note) {
  *note = Note{};
  note->data = list.data;
  note->size = list.size;
}

// The rows that `level` makes of `inner` values of one step, or rows of the next level.
Result<std::int64_t> note_level(const Feature& feature, const RaggedLevel& level, std::int64_t inner,
                                LevelCursor& cursor, ParseScratch& scratch) {
  if (level.kind == PartitionKind::kUniformRowLength) {
    return count_uniform_rows(feature.wire_key(), level.row_length, inner);
  }
  FeatureView partition;
  if (!cursor.steps.next(&partition)) {
    return cursor.steps.malformed() ? malformed_list(level.name) : unequal_steps(feature, level.name);
  }
  if (partition.kind != ListKind::kAbsent && partition.kind != ListKind::kInt64) {
    return wrong_integers_kind(feature, level.name, partition.kind);
  }
  if (!read_int64_list(partition, &scratch.integers)) return malformed_list(level.name);
  return count_partition_rows(level.kind, level.name, scratch.integers, inner);
}

// Adds one step of a ragged list to its notes.
Status note_ragged_step(const Feature& feature, const ColumnStep& step, const VariableColumn& column,
                        const FeatureView& values, ParseScratch& scratch, Note* notes) {
  Note note;
  HEADRACE_RETURN_IF_ERROR(note_values(feature, step, values, scratch, &note));
  notes[0].count += note.count;
  notes[0].bytes += note.bytes;
  notes[1].count += 1;
  std::int64_t inner = note.count / column.stride;
  for (std::size_t i = column.levels.size(); i-- > 1;) {
    HEADRACE_ASSIGN_OR_RETURN(inner, note_level(feature, column.levels[i], inner, scratch.levels[i], scratch));
    notes[i + 1].count += inner;
    HEADRACE_RETURN_IF_ERROR(check_total_rows(column.levels[i].kind, column.levels[i].name, notes[i + 1].count));
  }
  return {};
}

Status note_dense_step(const Feature& feature, const ColumnStep& step, std::int64_t index, const FeatureView& values,
                       ParseScratch& scratch, Note* notes) {
  Note note;
  const Status noted = note_list(feature, step, values, scratch, &note);
  if (!noted.ok()) return at_step(feature, index, noted);
  if (note.count != step.count) return wrong_step_count(feature, index, note.count);
  if (Status bad = check_values(feature, step, note, scratch); !bad.ok()) return at_step(feature, index, bad);
  notes[0].count += note.count;
  notes[0].bytes += note.bytes;
  return {};
}

Status write_dense_list(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                        const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  const std::int64_t row_elements = memory.longest * column.stride;
  const std::int64_t element = notes.segment.local_begin * row_elements;
  ElementWriter writer(column, memory, element, before.bytes, scratch);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note& note = *notes.at(local, column.slot);
    StepReader steps(list_of(note), &scratch.step);
    FeatureView values;
    std::int64_t left = note.count;
    while (left > 0 && steps.next(&values)) {
      if (!writer.write(values, column.stride)) return changed_record(feature, notes, local);
      left -= column.stride;
    }
    if (left != 0) return changed_record(feature, notes, local);
    writer.pad(row_elements - note.count, note.count);
  }
  return {};
}

// One step's partition of `inner` values, or rows of the next level, into row splits; the rows, or -1.
std::int64_t write_level(const RaggedLevel& level, std::int64_t inner, LevelCursor& cursor, ParseScratch& scratch) {
  std::int64_t rows = 0;
  scratch.integers.clear();
  if (level.kind == PartitionKind::kUniformRowLength) {
    rows = inner / level.row_length;
  } else {
    FeatureView partition;
    if (!cursor.steps.next(&partition) || !read_int64_list(partition, &scratch.integers)) return -1;
    const Result<std::int64_t> counted = count_partition_rows(level.kind, level.name, scratch.integers, inner);
    if (!counted.ok()) return -1;
    rows = *counted;
  }
  write_partition_ends(level.kind, scratch.integers, rows, inner, cursor.base, cursor.ends);
  cursor.ends += rows;
  cursor.base += inner;
  return rows;
}

bool write_ragged_row(const VariableColumn& column, const Note* notes, ElementWriter& writer, ParseScratch& scratch) {
  for (std::size_t i = 1; i < column.levels.size(); ++i) {
    scratch.levels[i].steps = StepReader(list_of(notes[i + 1]), &scratch.step);
  }
  LevelCursor& row = scratch.levels[0];
  row.steps = StepReader(list_of(notes[0]), &scratch.step);
  FeatureView values;
  std::int64_t left = notes[0].count;
  for (std::int64_t step = 0; step < notes[1].count; ++step) {
    if (!row.steps.next(&values)) return false;
    const std::int64_t written = writer.write_up_to(values, left);
    if (written < 0) return false;
    left -= written;
    std::int64_t inner = written / column.stride;
    for (std::size_t i = column.levels.size(); i-- > 1;) {
      inner = write_level(column.levels[i], inner, scratch.levels[i], scratch);
      if (inner < 0) return false;
    }
    *row.ends++ = row.base += inner;
  }
  return left == 0;
}

Status write_ragged_list(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                         const SegmentNotes& notes, ParseScratch& scratch) {
  const auto slot = static_cast<std::size_t>(column.slot);
  const std::size_t levels = column.levels.size();
  const auto rows_before = [&](std::size_t level) {  // 1-based; levels + 1: innermost rows
    return level <= levels ? notes.before[slot + level].count : notes.before[slot].count / column.stride;
  };
  scratch.levels.resize(levels, LevelCursor{StepReader({}, &scratch.step)});
  for (std::size_t i = 0; i < levels; ++i) {
    scratch.levels[i].ends = memory.splits[i + 1] + rows_before(i + 1) + 1;
    scratch.levels[i].base = rows_before(i + 2);
  }
  const NoteSum& before = notes.before[slot];
  ElementWriter writer(column, memory, before.count, before.bytes, scratch);
  std::int64_t* ends = memory.splits[0] + notes.segment.local_begin + 1;
  std::int64_t steps = rows_before(1);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note* note = notes.at(local, column.slot);
    if (!write_ragged_row(column, note, writer, scratch)) return changed_record(feature, notes, local);
    *ends++ = steps += note[1].count;
  }
  return {};
}

}  // namespace

Status note_feature_list(const Feature& feature, const ColumnStep& step, const VariableColumn& column,
                         std::span<const std::uint8_t> record, ParseScratch& scratch, Note* notes) {
  const FeatureListView& list = scratch.lists[step.key];
  if (list.data == nullptr && !feature.allow_missing) return missing_feature_list(feature, record);
  note_whole_list(list, &notes[0]);
  scratch.levels.resize(column.levels.size(), LevelCursor{StepReader({}, &scratch.step)});
  for (std::size_t i = 0; i < column.levels.size(); ++i) {
    const RaggedLevel& level = column.levels[i];
    const bool in_record = i > 0 && level.kind != PartitionKind::kUniformRowLength;
    const FeatureListView partition = in_record ? scratch.lists[level.key] : FeatureListView();
    note_whole_list(partition, &notes[i + 1]);
    scratch.levels[i].steps = StepReader(partition, &scratch.step);
  }

  StepReader steps(list, &scratch.step);
  FeatureView values;
  for (std::int64_t index = 0; steps.next(&values); ++index) {
    if (column.kind == VariableKind::kSequence) {
      HEADRACE_RETURN_IF_ERROR(note_dense_step(feature, step, index, values, scratch, notes));
    } else {
      const Status noted = note_ragged_step(feature, step, column, values, scratch, notes);
      if (!noted.ok()) return at_step(feature, index, noted);
    }
  }
  if (steps.malformed()) return malformed_list(feature.wire_key());
  for (std::size_t i = 1; i < column.levels.size(); ++i) {
    if (scratch.levels[i].steps.next(&values)) return unequal_steps(feature, column.levels[i].name);
    if (scratch.levels[i].steps.malformed()) return malformed_list(column.levels[i].name);
  }
  return {};
}

Status write_feature_list(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                          const SegmentNotes& notes, ParseScratch& scratch) {
  return column.kind == VariableKind::kSequence ? write_dense_list(feature, column, memory, notes, scratch)
                                                : write_ragged_list(feature, column, memory, notes, scratch);
}

}  // namespace headrace

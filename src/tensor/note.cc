#include "tensor/note.h"

#include <string>

#include "example/list_decoder.h"
#include "example/scalar_decoder.h"
#include "tensor/bytes_column.h"
#include "tensor/column_writer.h"
#include "tensor/list_column.h"
#include "tensor/open_tensor.h"
#include "tensor/parse_errors.h"
#include "tensor/partition.h"
#include "tensor/sparse_feature.h"

namespace headrace {
namespace {

// Only a list of a GiB or more can hold a string that is too long.
Status check_string_lengths(const Feature& feature, const Note& note, ParseScratch& scratch) {
  if (note.bytes < static_cast<std::int64_t>(kStringLimit)) return {};
  scratch.strings.resize(static_cast<std::size_t>(note.count));
  (void)decode_bytes_list(note.view(), scratch.strings.data(), note.count);
  for (const std::string_view text : scratch.strings) {
    if (text.size() >= kStringLimit) return string_too_long(feature.wire_key(), text.size());
  }
  return {};
}

// Keeps the first `limit` values.
void cut(std::int64_t limit, ParseScratch& scratch, Note* note) {
  if (note->count <= limit) return;
  note->count = limit;
  if (note->kind != ListKind::kBytes) return;
  scratch.strings.resize(static_cast<std::size_t>(note->count));
  (void)decode_bytes_list(note->view(), scratch.strings.data(), note->count);
  note->bytes = 0;
  for (const std::string_view text : scratch.strings) note->bytes += static_cast<std::int64_t>(text.size());
}

void note_fallback(const VariableColumn& column, Note* note) {
  *note = Note{};
  note->count = column.stride;
  for (const std::string& text : column.fallback_strings) note->bytes += static_cast<std::int64_t>(text.size());
}

Status note_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                   Note* note) {
  std::span<const std::uint8_t> proto;
  if (list.kind != ListKind::kBytes) return wrong_kind(feature, list.kind);
  HEADRACE_RETURN_IF_ERROR(read_single_bytes(feature, list, &proto));
  HEADRACE_RETURN_IF_ERROR(check_tensor(feature, proto, step.count, &scratch.tensor));
  Where where;
  where.key = feature.wire_key();
  const Status decoded = decode_string_tensor(scratch.tensor, &scratch.strings);
  if (!decoded.ok()) return decoded.with(where);
  *note = {proto.data(), static_cast<std::uint32_t>(proto.size()), ListKind::kBytes, step.count, 0};
  HEADRACE_ASSIGN_OR_RETURN(note->bytes, string_payload(feature, scratch.strings, step.count));
  return {};
}

Status note_ragged(const Feature& feature, const ColumnStep& step, const VariableColumn& column, ParseScratch& scratch,
                   Note* notes) {
  HEADRACE_RETURN_IF_ERROR(note_values(feature, step, scratch.views[step.key], scratch, notes));
  std::int64_t inner = notes[0].count / column.stride;
  for (std::size_t i = column.levels.size(); i-- > 0;) {
    const RaggedLevel& level = column.levels[i];
    Note& note = notes[i + 1];
    note = Note{};
    if (level.kind == PartitionKind::kUniformRowLength) {
      HEADRACE_ASSIGN_OR_RETURN(note.count, count_uniform_rows(feature.wire_key(), level.row_length, inner));
    } else {
      const FeatureView& list = scratch.views[level.key];
      if (list.kind != ListKind::kAbsent && list.kind != ListKind::kInt64) {
        return wrong_integers_kind(feature, level.name, list.kind);
      }
      if (!read_int64_list(list, &scratch.integers)) return malformed_list(level.name);
      note.data = list.data;
      note.size = list.size;
      note.kind = list.kind;
      HEADRACE_ASSIGN_OR_RETURN(note.count, count_partition_rows(level.kind, level.name, scratch.integers, inner));
    }
    inner = note.count;
  }
  return {};
}

}  // namespace

Status note_list(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                 Note* note) {
  note->data = list.data;
  note->size = list.size;
  note->kind = list.kind;
  note->bytes = 0;
  switch (list.kind) {
    case ListKind::kAbsent:
      note->count = 0;
      return {};
    case ListKind::kInt64:
      note->count = step.list == ListKind::kInt64 ? count_int64_list(list) : 0;
      break;
    case ListKind::kFloat:
      note->count = step.list == ListKind::kFloat ? count_float_list(list) : 0;
      break;
    case ListKind::kBytes:
      note->count = step.list == ListKind::kBytes ? count_bytes_list(list, &note->bytes) : 0;
      break;
  }
  if (list.kind != step.list) return wrong_kind(feature, list.kind);
  if (note->count < 0) return malformed_list(feature.wire_key());
  return list.kind == ListKind::kBytes ? check_string_lengths(feature, *note, scratch) : Status();
}

Status note_values(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                   Note* note) {
  HEADRACE_RETURN_IF_ERROR(note_list(feature, step, list, scratch, note));
  if (step.count != 1 && note->count % step.count != 0) return no_multiple(feature, step.count, note->count);
  if (step.transforms == nullptr) return {};
  cut(step.transforms->limit, scratch, note);
  if (note->count > step.transforms->most)
    return too_many(feature, step.transforms->most / step.count, note->count / step.count);
  return check_values(feature, step, *note, scratch);
}

Status check_values(const Feature& feature, const ColumnStep& step, const Note& note, ParseScratch& scratch) {
  if (step.transforms == nullptr || note.count == 0 || !step.transforms->list.program.fallible()) return {};
  const std::uint8_t* values = nullptr;
  if (read_values(note.view(), note.count, scratch, &values) < note.count) return malformed_list(feature.wire_key());
  return check_transforms(feature, *step.transforms, values, note.count, scratch);
}

std::int64_t read_values(const FeatureView& list, std::int64_t capacity, ParseScratch& scratch,
                         const std::uint8_t** values) {
  const auto room = static_cast<std::size_t>(capacity);
  std::uint64_t bytes = 0;
  switch (list.kind) {
    case ListKind::kInt64:
      if (scratch.integers.size() < room) scratch.integers.resize(room);
      *values = reinterpret_cast<const std::uint8_t*>(scratch.integers.data());
      return decode_int64_list(list, scratch.integers.data(), capacity);
    case ListKind::kFloat:
      if (decode_bytes_scalar(list, values, &bytes) && bytes % sizeof(float) == 0) {
        return static_cast<std::int64_t>(bytes / sizeof(float));
      }
      if (scratch.row_values.size() < room * sizeof(float)) scratch.row_values.resize(room * sizeof(float));
      *values = scratch.row_values.data();
      return decode_float_list(list, reinterpret_cast<float*>(scratch.row_values.data()), capacity);
    case ListKind::kBytes:
      if (scratch.strings.size() < room) scratch.strings.resize(room);
      *values = reinterpret_cast<const std::uint8_t*>(scratch.strings.data());
      return decode_bytes_list(list, scratch.strings.data(), capacity);
    case ListKind::kAbsent:
      break;
  }
  return 0;
}

Result<std::int64_t> string_payload(const Feature& feature, std::span<const std::string_view> strings,
                                    std::int64_t elements) {
  std::int64_t bytes = 0;
  for (const std::string_view text : strings) {
    if (text.size() >= kStringLimit) return string_too_long(feature.wire_key(), text.size());
    bytes += static_cast<std::int64_t>(text.size());
  }
  const std::int64_t repeated = elements - static_cast<std::int64_t>(strings.size());
  if (repeated > 0) bytes += repeated * static_cast<std::int64_t>(strings.back().size());
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t fits, bytes_column_size(feature.wire_key(), elements, bytes));
  (void)fits;
  return bytes;
}

Status take_note(const ColumnPlan& plan, const ColumnStep& step, std::span<const std::uint8_t> record,
                 ParseScratch& scratch, Note* notes) {
  const Feature& feature = plan.features[step.feature];
  if (step.op == ColumnOp::kNoteList) {
    return note_feature_list(feature, step, plan.variables[step.variable], record, scratch, notes);
  }
  const FeatureView& list = scratch.views[step.key];
  if (step.op == ColumnOp::kNoteValues) return note_values(feature, step, list, scratch, notes);
  if (step.op == ColumnOp::kNoteOpen) {
    if (list.kind == ListKind::kAbsent) return missing_feature(feature, record, ignored_feature_lists(plan, scratch));
    return note_open_tensor(feature, step, list, scratch, notes);
  }
  const VariableColumn& column = plan.variables[step.variable];
  if (step.op == ColumnOp::kNoteRagged) return note_ragged(feature, step, column, scratch, notes);
  if (step.op == ColumnOp::kNoteSparse) return note_sparse(feature, step, column, scratch, notes);

  if (list.kind == ListKind::kAbsent) {
    if (!feature.has_default) return missing_feature(feature, record, ignored_feature_lists(plan, scratch));
    note_fallback(column, notes);
    return {};
  }
  if (step.op == ColumnOp::kNoteTensor) return note_tensor(feature, step, list, scratch, notes);
  HEADRACE_RETURN_IF_ERROR(note_list(feature, step, list, scratch, notes));
  return notes->count == step.count ? Status() : wrong_count(feature, notes->count);
}

}  // namespace headrace

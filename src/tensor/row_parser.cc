#include "tensor/row_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/wire.h"
#include "example/scalar_decoder.h"
#include "tensor/column_writer.h"
#include "tensor/image_column.h"
#include "tensor/parse_errors.h"
#include "tensor/transformed_columns.h"

namespace headrace {
namespace {

// Records come in shuffled order, so the hardware does not see the next one coming.
constexpr std::size_t kPrefetchRows = 2;
constexpr std::size_t kPrefetchBytes = 1024;
constexpr std::size_t kCacheLine = 64;

inline void prefetch(RecordBytes record) {
  if (record.data() == nullptr) return;
  const std::size_t bytes = std::min(record.size(), kPrefetchBytes);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(record.data() + at);
}

// The values of a list that is there, of the right kind, as many as step.count.
Status write_values(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                    CopyMode mode, std::uint8_t* slot) {
  std::int64_t count = -1;
  switch (step.op) {
    case ColumnOp::kTensor:
      return feature.dtype == DType::kBytes ? write_string_tensor(feature, step, list, slot, scratch)
                                            : write_tensor(feature, step, list, slot, mode, &scratch.tensor);
    case ColumnOp::kView:
      return write_view(feature, list, slot);
    case ColumnOp::kImage:
      return write_image(feature, list, *scratch.images[step.feature], scratch.row_key, slot);
    case ColumnOp::kRaw:
      return write_raw(feature, step, list, slot, mode);
    case ColumnOp::kStrings:
      count = write_strings(step, list, slot);
      break;
    default:
      count = step.list == ListKind::kInt64 ? write_int64s(step, list, slot) : write_floats(step, list, slot, mode);
      break;
  }
  if (count < 0) return malformed_list(feature.wire_key());
  return count == step.count ? Status() : wrong_count(feature, count);
}

// Everything that is not a list of the usual form: defaults, other encodings of the list, failures; and rows that are
// transformed on the way.
[[gnu::noinline]] Status write_unusual(const ColumnPlan& plan, const ColumnStep& step, RecordBytes record,
                                       ParseScratch& scratch, std::uint8_t* slot) {
  const Feature& feature = plan.features[step.feature];
  const FeatureView& list = scratch.views[step.key];
  if (list.kind == ListKind::kAbsent) {
    if (step.fallback == nullptr) return missing_feature(feature, record, ignored_feature_lists(plan, scratch));
    std::memcpy(slot, step.fallback, step.fallback_bytes());
    return {};
  }
  if (list.kind != step.list) return wrong_kind(feature, list.kind);
  if (!step.direct()) return write_values(feature, step, list, scratch, scratch.mode, slot);
  const std::uint8_t* values = step.op == ColumnOp::kFloats ? packed_floats(step, list) : nullptr;
  if (values == nullptr) {
    values = scratch.row_values.data();
    HEADRACE_RETURN_IF_ERROR(write_values(feature, step, list, scratch, CopyMode(), scratch.row_values.data()));
  }
  return transform_row(feature, step, values, slot, scratch);
}

inline Status parse_row(const ColumnPlan& plan, RecordBytes record, ParseScratch& scratch, Note* notes,
                        std::span<NoteSum> sums) {
  RecordBytes features = record;
  if (plan.schema.sequence) {
    HEADRACE_RETURN_IF_ERROR(scratch.sequence_reader.read(record, &features, scratch.lists));
  }
  HEADRACE_RETURN_IF_ERROR(scratch.reader.read(features, scratch.views));
  std::uint8_t** cursor = scratch.cursors.data();
  for (const ColumnStep& step : plan.steps) {
    std::uint8_t* slot = *cursor;
    *cursor++ += step.stride;
    switch (step.op) {
      case ColumnOp::kScalarInt64: {
        const FeatureView& list = scratch.views[step.key];
        if (list.kind == ListKind::kInt64 && decode_int64_scalar(list, reinterpret_cast<std::int64_t*>(slot))) continue;
        break;
      }
      case ColumnOp::kScalarFloat: {
        const FeatureView& list = scratch.views[step.key];
        if (list.kind == ListKind::kFloat && decode_float_scalar(list, reinterpret_cast<float*>(slot))) continue;
        break;
      }
      case ColumnOp::kInt64s:
      case ColumnOp::kFloats:
      case ColumnOp::kStrings:
      case ColumnOp::kTensor:
      case ColumnOp::kView:
      case ColumnOp::kImage:
      case ColumnOp::kRaw:
        break;
      case ColumnOp::kListLength:
        store_u64(slot, static_cast<std::uint64_t>(notes[step.slot].count / step.count));
        continue;
      case ColumnOp::kNoteValues:
      case ColumnOp::kNoteStrings:
      case ColumnOp::kNoteTensor:
      case ColumnOp::kNoteRagged:
      case ColumnOp::kNoteSparse:
      case ColumnOp::kNoteList:
      case ColumnOp::kNoteOpen:
        if (Status status = take_note(plan, step, record, scratch, notes + step.slot); !status.ok()) [[unlikely]] {
          scratch.failed_step = static_cast<std::size_t>(&step - plan.steps.data());
          return status;
        }
        for (std::uint32_t i = 0; i < step.slots; ++i) {
          const std::size_t at = static_cast<std::size_t>(step.slot) + i;
          sums[at].add(notes[at]);
        }
        continue;
    }
    if (Status status = write_unusual(plan, step, record, scratch, slot); !status.ok()) [[unlikely]] {
      scratch.failed_step = static_cast<std::size_t>(&step - plan.steps.data());
      return status;
    }
  }
  return {};
}

// Of a batch with records that are only located. Such a record stays, or only what its notes point to does.
[[gnu::noinline]] Status parse_late_row(const RowParserInput& input, std::size_t row, ParseScratch& scratch) {
  const auto slots = static_cast<std::size_t>(input.plan.slots);
  const std::span notes(input.notes + row * slots, slots);
  RecordBytes record = input.rows[row];
  const bool stays = input.plan.points_into_rows || record.data() != nullptr;
  if (record.data() == nullptr) {
    const Result<RecordBytes> loaded = stays ? input.loader->load_and_keep(row) : input.loader->load(row, &scratch.row);
    if (!loaded.ok()) [[unlikely]]
      return loaded.status();
    record = *loaded;
  }
  Status parsed = parse_row(input.plan, record, scratch, notes.data(), input.sums);
  if (slots == 0 || !parsed.ok()) return parsed;
  HEADRACE_RETURN_IF_ERROR(input.strings->write(input.plan, input.segment.replica, notes, scratch));
  return stays ? Status() : input.noted->keep(record, notes, scratch.mode, input.loader);
}

// The rows from *row on before `end`; *row stops at the one that fails.
inline Status parse_block(const RowParserInput& input, std::size_t* row, std::size_t end, ParseScratch& scratch) {
  const auto last = static_cast<std::size_t>(input.segment.end);
  const auto slots = static_cast<std::size_t>(input.plan.slots);
  for (; *row < end; ++*row) {
    if (*row + kPrefetchRows < last) prefetch(input.rows[*row + kPrefetchRows]);
    if (!input.row_keys.empty()) scratch.row_key = input.row_keys[*row];
    const RecordBytes record = input.rows[*row];
    const Status status = input.loader == nullptr
                              ? parse_row(input.plan, record, scratch, input.notes + *row * slots, input.sums)
                              : parse_late_row(input, *row, scratch);
    if (!status.ok()) [[unlikely]] {
      Where where;
      where.row = static_cast<std::int64_t>(*row);
      return status.with(where);
    }
  }
  return {};
}

}  // namespace

Status parse_rows(const RowParserInput& input, ParseScratch& scratch) {
  auto row = static_cast<std::size_t>(input.segment.begin);
  const auto end = static_cast<std::size_t>(input.segment.end);
  if (input.plan.staged.empty()) return parse_block(input, &row, end, scratch);

  scratch.failed_step = 0;
  begin_staging(input.plan, scratch);
  while (row < end) {
    const std::size_t first = row;
    const Status status = parse_block(input, &row, std::min(end, first + kStagedRows), scratch);
    // A value that cannot be transformed stands in a lower row or an earlier step than what has failed already.
    HEADRACE_RETURN_IF_ERROR(finish_staging(input.plan, scratch, static_cast<std::int64_t>(first),
                                            static_cast<std::int64_t>(row - first),
                                            status.ok() ? 0 : scratch.failed_step));
    HEADRACE_RETURN_IF_ERROR(status);
  }
  return {};
}

}  // namespace headrace

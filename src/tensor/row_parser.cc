#include "tensor/row_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/wire.h"
#include "example/scalar_decoder.h"
#include "tensor/column_writer.h"
#include "tensor/parse_errors.h"

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

// Everything that is not a list of the usual form: defaults, other encodings of the list, failures.
[[gnu::noinline]] Status write_unusual(const ColumnPlan& plan, const ColumnStep& step, RecordBytes record,
                                       ParseScratch& scratch, std::uint8_t* slot) {
  const Feature& feature = plan.features[step.feature];
  const FeatureView& list = scratch.views[step.key];
  if (list.kind == ListKind::kAbsent) {
    if (step.fallback == nullptr) return missing_feature(feature, record, ignored_feature_lists(plan, scratch));
    std::memcpy(slot, step.fallback, step.bytes);
    return {};
  }
  if (list.kind != step.list) return wrong_kind(feature, list.kind);
  switch (step.op) {
    case ColumnOp::kTensor:
      return write_tensor(feature, step, list, slot, scratch.mode, &scratch.tensor);
    case ColumnOp::kView:
      return write_view(feature, list, slot);
    case ColumnOp::kRaw:
      return write_raw(feature, step, list, slot, scratch.mode);
    default:
      break;
  }
  const std::int64_t count =
      step.list == ListKind::kInt64 ? write_int64s(step, list, slot) : write_floats(step, list, slot, scratch.mode);
  if (count < 0) return malformed_list(feature.wire_key());
  return count == step.count ? Status() : wrong_count(feature, count);
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
      case ColumnOp::kTensor:
      case ColumnOp::kView:
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
        HEADRACE_RETURN_IF_ERROR(take_note(plan, step, record, scratch, notes + step.slot));
        for (std::uint32_t i = 0; i < step.slots; ++i) {
          const std::size_t at = static_cast<std::size_t>(step.slot) + i;
          sums[at].add(notes[at]);
        }
        continue;
    }
    HEADRACE_RETURN_IF_ERROR(write_unusual(plan, step, record, scratch, slot));
  }
  return {};
}

// A record that is only located. What points into it, notes until phase 2 and views, needs it to stay.
[[gnu::noinline]] Status parse_late_row(const RowParserInput& input, std::size_t row, ParseScratch& scratch) {
  const auto slots = static_cast<std::size_t>(input.plan.slots);
  const bool stays = slots > 0 || input.plan.has_views;
  const Result<RecordBytes> record = stays ? input.loader->load_and_keep(row) : input.loader->load(row, &scratch.row);
  HEADRACE_RETURN_IF_ERROR(record.status());
  return parse_row(input.plan, *record, scratch, input.notes + row * slots, input.sums);
}

}  // namespace

Status parse_rows(const RowParserInput& input, ParseScratch& scratch) {
  const auto end = static_cast<std::size_t>(input.segment.end);
  const auto slots = static_cast<std::size_t>(input.plan.slots);
  for (auto row = static_cast<std::size_t>(input.segment.begin); row < end; ++row) {
    if (row + kPrefetchRows < end) prefetch(input.rows[row + kPrefetchRows]);
    const RecordBytes record = input.rows[row];
    const Status status = record.data() != nullptr || input.loader == nullptr
                              ? parse_row(input.plan, record, scratch, input.notes + row * slots, input.sums)
                              : parse_late_row(input, row, scratch);
    if (!status.ok()) [[unlikely]] {
      Where where;
      where.row = static_cast<std::int64_t>(row);
      return status.with(where);
    }
  }
  return {};
}

}  // namespace headrace

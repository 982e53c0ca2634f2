#include "tensor/open_shape.h"

#include <algorithm>
#include <string>

#include "base/limits.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

// A varint of one byte can become an element of 8 bytes with a row split of its own.
constexpr std::int64_t kMaxBytesPerWireByte = 16;

bool is_ragged(const Feature& feature) { return feature.unknown_dims == UnknownDims::kRagged; }

// The dimensions of row 0 or another one, from notes that hold dimensions.
Shape noted_shape(const Feature& feature, const Note* notes) {
  const int noted = open_dimensions(feature);
  Shape shape = feature.shape;
  if (feature.unknown_rank) {
    for (std::int64_t rank = notes[noted + 1].count; rank > 0; --rank) shape.push_back(0);
  }
  for (int d = 0; d < std::min(noted, static_cast<int>(shape.size())); ++d) {
    shape[static_cast<std::size_t>(d)] = notes[d + 1].count;
  }
  return shape;
}

// What of the notes must be the same in all rows, as [begin, end).
struct NoteRange {
  int begin;
  int end;
};
NoteRange shared_notes(const Feature& feature) {
  const int noted = open_dimensions(feature);
  const int end = open_note_slots(feature);
  return {feature.unknown_dims == UnknownDims::kEqual ? 1 : noted + 1, end};
}

Status different(const Feature& feature, const Note* first, const Note* notes) {
  if (feature.kind == FeatureKind::kRaw) {
    const std::string expected = std::to_string(first->size);
    const std::string found = std::to_string(notes->size);
    return schema_mismatch(
        "DecodeRaw requires input strings to all be the same size, but this one has size " + found + " != " + expected,
        at_feature(feature, expected + " bytes, as row 0 of the batch", found + " bytes"));
  }
  if (feature.unknown_dims != UnknownDims::kEqual) {
    const int rank = open_dimensions(feature) + 1;
    const std::string expected = std::to_string(first[rank].count);
    const std::string found = std::to_string(notes[rank].count);
    return schema_mismatch("Cannot batch tensors with different ranks: row 0 of the batch has " + expected +
                               " dimensions, this one " + found,
                           at_feature(feature, expected + " dimensions", found + " dimensions"));
  }
  const Shape expected = noted_shape(feature, first);
  const Shape found = noted_shape(feature, notes);
  return schema_mismatch("Cannot batch tensors with different shapes: row 0 of the batch has " + shape_text(expected) +
                             ", this one " + shape_text(found),
                         at_feature(feature, tensor_text(feature.dtype, expected), tensor_text(feature.dtype, found)));
}

}  // namespace

int open_dimensions(const Feature& feature) {
  if (feature.unknown_rank) return kMaxUnknownRank;
  int dimensions = static_cast<int>(feature.shape.size());
  while (dimensions > 0 && feature.shape[static_cast<std::size_t>(dimensions) - 1] != -1) --dimensions;
  return dimensions;
}

int open_note_slots(const Feature& feature) { return 1 + open_dimensions(feature) + (feature.unknown_rank ? 1 : 0); }

Status note_open_dims(const Feature& feature, const Shape& dims, Note* notes) {
  const int noted = open_dimensions(feature);
  const std::int64_t elements = notes[0].count;
  std::int64_t rows = 1;
  for (int d = 0; d < noted; ++d) {
    Note& note = notes[d + 1];
    note = Note{};
    if (d >= static_cast<int>(dims.size())) continue;
    const std::int64_t size = dims[static_cast<std::size_t>(d)];
    const bool is_too_many = __builtin_mul_overflow(rows, size, &rows);
    const std::int64_t limit = std::max(elements, kMaxEmptyRows);
    if (is_too_many || rows > limit || size > limit) {
      return schema_mismatch("Cannot parse tensor from proto: its shape " + shape_text(dims) + " claims rows for " +
                                 std::to_string(elements) + " elements; at most " + std::to_string(kMaxEmptyRows) +
                                 " may be empty",
                             at_feature(feature, tensor_text(feature.dtype, feature.shape), shape_text(dims)));
    }
    note.count = is_ragged(feature) ? rows : size;
  }
  if (feature.unknown_rank) {
    notes[noted + 1] = Note{};
    notes[noted + 1].count = static_cast<std::int64_t>(dims.size());
  }
  return {};
}

OpenLayout open_layout(const Feature& feature, const VariableColumn& column, std::span<const std::int64_t> longest) {
  const auto slot = static_cast<std::size_t>(column.slot);
  const auto noted = static_cast<std::size_t>(open_dimensions(feature));
  std::size_t rank = feature.shape.size();
  if (feature.unknown_rank) rank = static_cast<std::size_t>(longest[slot + noted + 1]);
  const std::size_t open = std::min(noted, rank);
  OpenLayout layout;
  if (is_ragged(feature)) {
    layout.ragged = static_cast<int>(open);
  } else {
    layout.shape = Shape(longest.begin() + slot + 1, longest.begin() + slot + 1 + open);
  }
  for (std::size_t d = open; d < rank; ++d) layout.shape.push_back(feature.shape[d]);
  return layout;
}

Status check_invented_bytes(const Feature& feature, std::int64_t needed, std::int64_t wire_bytes) {
  std::int64_t most = 0;
  if (__builtin_mul_overflow(wire_bytes, kMaxBytesPerWireByte, &most) ||
      __builtin_add_overflow(most, kMaxInventedBytes, &most) || needed <= most) {
    return {};
  }
  Where where;
  where.key = feature.wire_key();
  where.expected = "at most 4 GiB of padding, filled-in values and empty rows in one column of a slice";
  where.found = std::to_string(needed) + " bytes for " + std::to_string(wire_bytes) + " bytes in the records";
  std::string text = "a column of " + where.found + "; " + where.expected;
  return Status(StatusCode::kResourceExhausted, std::move(text), std::move(where));
}

bool shapes_must_agree(const Feature& feature) {
  if (!feature.has_unknown_dims()) return false;
  const NoteRange shared = shared_notes(feature);
  return shared.begin < shared.end;
}

bool open_shapes_agree(const ColumnPlan& plan, std::span<const NoteSum> sums, std::int64_t rows) {
  const auto slots = static_cast<std::size_t>(plan.slots);
  for (const VariableColumn& column : plan.variables) {
    if (column.kind != VariableKind::kOpen) continue;
    const NoteRange shared = shared_notes(plan.features[column.feature]);
    for (int i = shared.begin; i < shared.end; ++i) {
      // No row is above the longest: all are equal when they add up to that many times it.
      std::int64_t total = 0;
      std::int64_t longest = 0;
      for (std::size_t at = static_cast<std::size_t>(column.slot + i); at < sums.size(); at += slots) {
        total += sums[at].count;
        longest = std::max(longest, sums[at].longest);
      }
      if (total != longest * rows) return false;
    }
  }
  return true;
}

Status check_open_shapes(const ColumnPlan& plan, const Note* notes, std::int64_t rows) {
  const auto slots = static_cast<std::size_t>(plan.slots);
  for (std::int64_t row = 1; row < rows; ++row) {
    for (const VariableColumn& column : plan.variables) {
      if (column.kind != VariableKind::kOpen) continue;
      const Feature& feature = plan.features[column.feature];
      const Note* first = notes + column.slot;
      const Note* found = first + static_cast<std::size_t>(row) * slots;
      const NoteRange shared = shared_notes(feature);
      for (int i = shared.begin; i < shared.end; ++i) {
        if (found[i].count == first[i].count) continue;
        Where where;
        where.row = row;
        return different(feature, first, found).with(where);
      }
    }
  }
  return {};
}

}  // namespace headrace

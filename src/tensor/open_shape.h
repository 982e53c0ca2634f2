// Open dimensions: those of a TensorFeature or RawFeature that only the record knows (-1 in its shape, or no shape at all).
//
// What one record has is noted in phase 1, so that the shape of the batch and its memory are known before phase 2. Notes of
// such a feature, from its slot on:
//   values      the TensorProto or the raw bytes; count = elements, bytes = payload of strings, else bytes on the wire
//   dimensions  one for each up to the last open one. Ragged: count = rows of it in the record, the product of the
//               dimensions so far; padded and equal: count = the dimension itself
//   rank        of a feature of unknown rank, which has kMaxUnknownRank notes of dimensions, those beyond its rank 0
// All functions are pure.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/schema.h"
#include "headrace/status.h"
#include "tensor/column_plan.h"
#include "tensor/note.h"

namespace headrace {

/// Dimensions that are noted.
int open_dimensions(const Feature& feature);
/// All notes of the feature.
int open_note_slots(const Feature& feature);

/// Fills the notes of one record's value whose dimensions are `dims`. Fails when it claims rows that hold nothing beyond
/// any use, so that sums over a batch cannot overflow.
Status note_open_dims(const Feature& feature, const Shape& dims, Note* notes);

/// Arrangement of a column in one global batch.
struct OpenLayout {
  int ragged = 0;  ///< ragged dimensions, the one below the batch first
  Shape shape;     ///< dense dimensions of a row; ragged: those of the values
};
/// `longest` of each slot of the batch, by slot.
OpenLayout open_layout(const Feature& feature, const VariableColumn& column, std::span<const std::int64_t> longest);

/// kResourceExhausted when `needed` bytes of memory exceed what `wire_bytes` of the records can stand for by more than
/// kMaxInventedBytes.
Status check_invented_bytes(const Feature& feature, std::int64_t needed, std::int64_t wire_bytes);

/// Whether the notes of some features must be the same in all rows of a batch (equal shapes, equal ranks).
bool shapes_must_agree(const Feature& feature);
/// Whether they are, from what phase 1 counted: `sums` by segment and slot.
bool open_shapes_agree(const ColumnPlan& plan, std::span<const NoteSum> sums, std::int64_t rows);
/// The failure of the lowest of the first `rows` rows that is not like row 0, there of the first feature in schema order.
Status check_open_shapes(const ColumnPlan& plan, const Note* notes, std::int64_t rows);

}  // namespace headrace

#include "tensor/sparse_feature.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "example/list_decoder.h"
#include "tensor/element_writer.h"
#include "tensor/parse_errors.h"

namespace headrace {
namespace {

Status wrong_number_of_indices(const Feature& feature, const std::string& key, std::int64_t values,
                               std::int64_t found) {
  Where where;
  where.key = key;
  where.expected = std::to_string(values) + " indices";
  where.found = std::to_string(found) + " indices";
  std::string text = "SparseFeature: " + std::to_string(found) + " indices for " + std::to_string(values) +
                     " values of feature '" + shown_key(feature.wire_key()) + "'";
  return schema_mismatch(std::move(text), std::move(where));
}

Status index_out_of_range(const SparseDimension& dimension, std::int64_t place, std::int64_t index) {
  Where where;
  where.key = dimension.name;
  where.expected = "indices in [0, " + std::to_string(dimension.size) + ")";
  where.found = std::to_string(index);
  std::string text = "SparseFeature: index " + std::to_string(place) + " of the list is " + where.found +
                     ", which is not in [0, " + std::to_string(dimension.size) + ")";
  return schema_mismatch(std::move(text), std::move(where));
}

// The indices of one record: dimension d of value i at [d * values + i].
class RecordIndices {
 public:
  RecordIndices(const std::vector<std::int64_t>& indices, std::size_t dimensions, std::int64_t values)
      : indices_(indices.data()), dimensions_(dimensions), values_(static_cast<std::size_t>(values)) {}

  std::int64_t at(std::size_t dimension, std::int64_t value) const {
    return indices_[dimension * values_ + static_cast<std::size_t>(value)];
  }
  /// -1, 0, 1 as value `a` lies before, at or behind value `b`.
  int compare(std::int64_t a, std::int64_t b) const {
    for (std::size_t d = 0; d < dimensions_; ++d) {
      if (at(d, a) != at(d, b)) return at(d, a) < at(d, b) ? -1 : 1;
    }
    return 0;
  }
  bool sorted() const {
    for (std::int64_t i = 1; i < static_cast<std::int64_t>(values_); ++i) {
      if (compare(i - 1, i) > 0) return false;
    }
    return true;
  }

 private:
  const std::int64_t* indices_;
  std::size_t dimensions_;
  std::size_t values_;
};

// Reads the indices into scratch.integers as RecordIndices wants them; false when they are no longer what was noted.
bool read_indices(std::span<const Note> notes, std::int64_t values, ParseScratch& scratch) {
  scratch.integers.resize(notes.size() * static_cast<std::size_t>(values));
  std::int64_t* to = scratch.integers.data();
  for (const Note& note : notes) {
    if (note.kind != ListKind::kAbsent && decode_int64_list(note.view(), to, values) != values) return false;
    to += values;
  }
  return true;
}

}  // namespace

Status note_sparse(const Feature& feature, const ColumnStep& step, const VariableColumn& column, ParseScratch& scratch,
                   Note* notes) {
  HEADRACE_RETURN_IF_ERROR(note_values(feature, step, scratch.views[step.key], scratch, notes));
  for (std::size_t i = 0; i < column.dimensions.size(); ++i) {
    const SparseDimension& dimension = column.dimensions[i];
    const FeatureView& list = scratch.views[dimension.key];
    if (list.kind != ListKind::kAbsent && list.kind != ListKind::kInt64) {
      return wrong_integers_kind(feature, dimension.name, list.kind);
    }
    if (!read_int64_list(list, &scratch.integers)) return malformed_list(dimension.name);
    const auto found = static_cast<std::int64_t>(scratch.integers.size());
    if (found != notes[0].count) {
      return wrong_number_of_indices(feature, dimension.name, notes[0].count, found);
    }
    for (std::int64_t place = 0; place < found; ++place) {
      const std::int64_t index = scratch.integers[static_cast<std::size_t>(place)];
      if (index < 0 || index >= dimension.size) return index_out_of_range(dimension, place, index);
    }
    notes[i + 1] = {list.data, list.size, list.kind, found, 0};
  }
  return {};
}

Status write_sparse(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                    const SegmentNotes& notes, ParseScratch& scratch) {
  const NoteSum& before = notes.before[static_cast<std::size_t>(column.slot)];
  const std::size_t dimensions = column.dimensions.size();
  ElementWriter writer(column, memory, before.count, before.bytes, scratch);
  std::int64_t* to = memory.indices + static_cast<std::size_t>(before.count) * (dimensions + 1);
  for (std::int64_t local = 0; local < notes.segment.rows(); ++local) {
    const Note* note = notes.at(local, column.slot);
    const std::int64_t values = note->count;
    if (!read_indices({note + 1, dimensions}, values, scratch)) return changed_record(feature, notes, local);
    const RecordIndices indices(scratch.integers, dimensions, values);
    scratch.order.resize(static_cast<std::size_t>(values));
    std::iota(scratch.order.begin(), scratch.order.end(), 0);
    const bool in_place = feature.already_sorted || indices.sorted();
    if (!in_place) {
      std::sort(scratch.order.begin(), scratch.order.end(), [&indices](std::int64_t a, std::int64_t b) {
        const int order = indices.compare(a, b);
        return order != 0 ? order < 0 : a < b;
      });
    }
    for (const std::int64_t value : scratch.order) {
      *to++ = notes.segment.local_begin + local;
      for (std::size_t d = 0; d < dimensions; ++d) *to++ = indices.at(d, value);
    }
    if (!(in_place ? writer.write(*note) : writer.write_in_order(*note, scratch.order))) {
      return changed_record(feature, notes, local);
    }
  }
  return {};
}

}  // namespace headrace

// Note: what phase 1 keeps of one variable feature of one record, so that phase 2 knows every place before it writes.
//
// note_* check everything that can be wrong with the feature, so that phase 2 cannot fail on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/column_plan.h"
#include "tensor/parse_scratch.h"

namespace headrace {

struct Note {
  const std::uint8_t* data = nullptr;  ///< the list, or the TensorProto (kNoteTensor); borrowed from the record
  std::uint32_t size = 0;
  ListKind kind = ListKind::kAbsent;
  std::int64_t count = 0;  ///< values that are kept; for a ragged level: its rows
  std::int64_t bytes = 0;  ///< payload of those strings

  FeatureView view() const { return {data, size, kind}; }
};

/// Sums over the notes of one slot: of a segment, or of everything before it in its replica.
struct NoteSum {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t longest = 0;

  void add(const Note& note) {
    count += note.count;
    bytes += note.bytes;
    longest = std::max(longest, note.count);
  }
};

/// Notes a list of any length; one without a kind has no values.
Status note_list(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                 Note* note);
/// The same; for ragged ones and steps the count must be a multiple of step.count. Of more than transforms keep, only
/// those are noted, and each of them can be transformed.
Status note_values(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                   Note* note);

/// Whether transforms can turn the noted values. A column that they can refuse is decoded twice.
Status check_values(const Feature& feature, const ColumnStep& step, const Note& note, ParseScratch& scratch);

/// The values of a list as they are before transforms, at least the first `capacity` of them: in the record, or in
/// `scratch`. How many the list has, or -1 when it is malformed.
std::int64_t read_values(const FeatureView& list, std::int64_t capacity, ParseScratch& scratch,
                         const std::uint8_t** values);

/// Payload of a tensor of `elements` strings, of which `strings` are there and the last one stands for the rest. Fails when
/// a string, or all together, do not fit a bytes column.
Result<std::int64_t> string_payload(const Feature& feature, std::span<const std::string_view> strings,
                                    std::int64_t elements);

/// Fills the notes of the step's slot and its levels from the views in `scratch`. `record` serves the text of an error.
Status take_note(const ColumnPlan& plan, const ColumnStep& step, std::span<const std::uint8_t> record,
                 ParseScratch& scratch, Note* notes);

}  // namespace headrace

// One record's value of a feature with open dimensions: a TensorProto, or raw elements. Pure functions on borrowed bytes.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/note.h"
#include "tensor/parse_scratch.h"

namespace headrace {

/// Phase 1: fills the notes of the feature (open_shape.h) from its list, which is there. Everything that can be wrong with the
/// value is found here.
Status note_open_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, ParseScratch& scratch,
                        Note* notes);

/// Phase 2, numbers: the noted elements in native order, in one piece, when they lie so in the record; else empty.
std::span<const std::uint8_t> plain_values(const Feature& feature, const Note& note, ParseScratch& scratch);
/// Phase 2, numbers: writes the noted elements to `to`; false when the record is no longer what was noted.
bool write_tensor_values(const Feature& feature, const Note& note, ParseScratch& scratch, std::uint8_t* to);
/// Phase 2, strings: fills scratch.strings as decode_string_tensor() does; false as above.
bool read_tensor_strings(const Note& note, ParseScratch& scratch);

/// Both phases, features with transforms: the noted elements, of which there are some, as they are before; strings as
/// std::string_view. In the record or in `scratch`; null when the record is no longer what was noted.
const std::uint8_t* read_tensor_values(const Feature& feature, const Note& note, ParseScratch& scratch);

}  // namespace headrace

// Decoders of the three list messages: packed, unpacked, several chunks, mixed; values in order, as protobuf reads them.
//
// Pure functions on a FeatureView of the right kind, padded by kRecordPadding. count_* walk the list once and give the number
// of values, or -1 when it is malformed (wrong wire type of field 1, cut varint, packed floats whose length is no multiple
// of 4, value longer than the list). decode_* write at most `capacity` values and give the true number of values, or -1;
// nothing is written beyond `capacity`. Unknown fields are skipped. The hot form is one packed chunk, see
// packed_varints.h; for lists of one value see scalar_decoder.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "example/feature_view.h"

namespace headrace {

std::int64_t count_int64_list(const FeatureView& list);
std::int64_t decode_int64_list(const FeatureView& list, std::int64_t* out, std::int64_t capacity);

/// All values of a list, in memory that is kept; none for an absent one. False when the list is malformed.
bool read_int64_list(const FeatureView& list, std::vector<std::int64_t>* values);

std::int64_t count_float_list(const FeatureView& list);
std::int64_t decode_float_list(const FeatureView& list, float* out, std::int64_t capacity);

std::int64_t count_bytes_list(const FeatureView& list, std::int64_t* total_bytes);
/// The values as views into the record.
std::int64_t decode_bytes_list(const FeatureView& list, std::string_view* out, std::int64_t capacity);

/// Whether protobuf accepts a list: also one with a value of a wrong wire type, which is an unknown field to it.
bool is_legal_list(const FeatureView& list);

}  // namespace headrace

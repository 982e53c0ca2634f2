// The bytes of an index file, formats v1 and v2 (docs/formats/index.md), and the text of DALI's tfrecord2idx. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/index.h"

namespace headrace {

/// `index` has an identity.
std::vector<std::uint8_t> encode_index(const RecordIndex& index);
/// kDataLoss: not an index of either kind, or a damaged one.
Result<RecordIndex> decode_index(std::span<const std::uint8_t> bytes);

}  // namespace headrace

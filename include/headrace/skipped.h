// SkippedRegion: a piece of a shard that a skip policy left out, as a value. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/status.h"

namespace headrace {

struct SkippedRegion {
  /// Why, and where it begins: path, ordinal of its first record, offset of its first byte in the uncompressed stream.
  /// kDataLoss: damaged; kSchemaMismatch: does not fit the schema.
  Status reason;
  std::int64_t end = -1;      ///< offset of the first byte behind it; -1 = not known
  std::int64_t records = -1;  ///< records lost with it; -1 = not known
};

/// One line of JSON, without its line end: {"path", "record", "from", "to", "records", "cause", "reason", "key"}; null for
/// what is not known.
std::string to_json(const SkippedRegion& region);

}  // namespace headrace

// Where members of a damaged compressed file begin, and how far one of them is right. Pure functions of the file; they read it
// anew, with a memory of some 200 KiB.
#pragma once

#include <cstdint>
#include <optional>

#include "headrace/status.h"
#include "shard/compression.h"
#include "shard/stored_file.h"

namespace headrace {

struct MemberCheck {
  enum class Outcome : std::uint8_t { kWhole = 1, kLong, kBroken };
  Outcome outcome = Outcome::kBroken;  ///< kLong: right as far as it was inflated
  std::uint64_t bytes = 0;             ///< that it gave, uncompressed
};

/// Inflates the member at byte `offset` of the file until it ends, is found to be damaged or cut, or gave `most` bytes.
Result<MemberCheck> check_member(StoredFile* file, Compression format, std::uint64_t offset, std::uint64_t most);

/// The first place from `from` on at which a member seems to begin and inflates, to its end or for 64 KiB; nothing when there
/// is none. Two bytes are too little to know a zlib stream by: there is never one.
Result<std::optional<std::uint64_t>> find_member(StoredFile* file, Compression format, std::uint64_t from);

}  // namespace headrace

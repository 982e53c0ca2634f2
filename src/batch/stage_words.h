// What the stages of this folder share: reading a counter of a saved state, and the failures that several of them give.
#pragma once

#include <cstdint>
#include <string>

#include "record/record_stage.h"

namespace headrace {

/// The next word as a count in [0, most]; kInvalidArgument otherwise.
inline Result<std::int64_t> count_word(StateReader* state, std::int64_t most) {
  HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t word, state->word());
  if (most < 0 || word > static_cast<std::uint64_t>(most)) {
    return invalid_argument("the saved position has a count of " + std::to_string(word) + ", at most " +
                            std::to_string(most) + " can be");
  }
  return static_cast<std::int64_t>(word);
}

inline Status stopped_between_pulls() { return cancelled("closed while waiting for records"); }

inline Status nothing_to_repeat() {
  return invalid_argument("no record in any shard: repeat() without a count would never hand out a record");
}

/// `failure`, which tells that `rows` records before it, that do not fill a batch, are not handed out.
inline Status with_withheld(const Status& failure, std::int64_t rows) {
  if (rows == 0 || failure.ok()) return failure;
  return Status(failure.code(),
                failure.message() + " (" + std::to_string(rows) + (rows == 1 ? " record" : " records") +
                    " before it withheld: drop_remainder is set)",
                failure.where());
}

}  // namespace headrace

// ReadWait: for which place of which shard the sequencer waits, for whoever has to tell that it waits long.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

/// Written by the source when it begins and ends to wait; any thread may look.
struct ReadWait {
  std::atomic<std::int64_t> shard{-1};         ///< of the list of files; -1: it does not wait
  std::atomic<std::int64_t> file_position{0};  ///< bytes of the file that were used
  std::atomic<std::int64_t> waited_ns{0};      ///< in waits that ended
};

}  // namespace headrace

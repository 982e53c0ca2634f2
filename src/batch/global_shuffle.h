// The global shuffle: a source that hands out a permutation of all records of an epoch, without a buffer.
//
// An epoch is cut into pieces (one record, or neighbours of about 64 KiB), which come in the order of a KeyedPermutation of
// (seed, epoch). As many pieces as fill a window are read together, ahead; with `window_bytes` a second permutation orders
// the records in the window. So the whole state is two numbers: where in the order of pieces the window begins, and how far
// it was handed out.
#pragma once

#include <cstdint>
#include <memory>

#include "batch/stages.h"
#include "record/record_map.h"
#include "record/skip_log.h"
#include "record/source.h"

namespace headrace {

/// Bytes of a piece where `window_bytes` is given: reads of this size cost a disk little more than one long read does.
constexpr std::uint64_t kPieceBytes = 64 * 1024;

struct GlobalShuffleOptions {
  // behaviour
  std::uint64_t first = 0;  ///< records first, first + step, … of the map are shuffled
  std::uint64_t step = 1;
  std::uint64_t count = 0;  ///< so many of them
  std::uint64_t seed = 0;
  bool reshuffle_each_iteration = true;
  std::int64_t epochs = 1;         ///< that follow each other without a gap; -1 = for ever
  std::uint64_t window_bytes = 0;  ///< 0: the pieces of `map` are single records, and stay in their order
};

std::unique_ptr<RecordStage> make_global_shuffle(const SourceContext& source, const ReadOptions& read,
                                                 std::shared_ptr<const RecordMap> map,
                                                 const GlobalShuffleOptions& options);

}  // namespace headrace

// The source stage: shards, read ahead in parallel and interleaved in tf.data's deterministic order.
//
// Reading, inflating, framing and CRC checks are tasks of `work` (of `io` when a read would wait for a disk); pull() only
// takes finished blocks and hands out runs of them, waiting when the block it needs is not there yet. `source.epoch` order:
// shard order is the list's, every epoch. A shard that fails puts its failure at its place in the interleaved sequence.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/dataset.h"
#include "record/file_record.h"
#include "record/known_lengths.h"
#include "record/read_wait.h"
#include "record/record_stage.h"
#include "record/shard_part.h"
#include "record/skip_log.h"
#include "runtime/inflate_probe.h"
#include "runtime/probe.h"
#include "runtime/warnings.h"
#include "runtime/worker_pool.h"
#include "shard/compression.h"
#include "shard/file_list.h"

namespace headrace {

struct SourceOptions {
  // behaviour
  ReadOptions read;
  RecordKind record = RecordKind::kFramed;
  std::int64_t cycle_length = 1;  ///< 1 = one shard after another
  std::int64_t block_length = 1;
  // performance
  int blocks_ahead = 2;       ///< finished or running blocks per open shard
  int shards_ahead = 2;       ///< shards opened and read ahead beyond the cycle
  bool late_reading = false;  ///< records of plain local shards of large records are only located
};

class RecordLoader;
/// By Compression.
using InflateProbes = std::array<InflateProbe, kCompressions>;

/// What the source uses; all outlive the stage.
struct SourceContext {
  std::shared_ptr<const ShardList> shards;
  std::shared_ptr<const ShardParts> parts = nullptr;  ///< what is read, in this order; null: all shards
  BlockPool* blocks = nullptr;
  TaskGroup* work = nullptr;
  TaskGroup* io = nullptr;
  TaskPriority priority = 0;  ///< of a block that is needed next; read-ahead adds to it
  SkipLog* skipped = nullptr;
  WarningLog* warnings = nullptr;
  StageProbe* probe = nullptr;                      ///< "read"
  ReadWait* wait = nullptr;                         ///< or null: nobody asks
  InflateProbes* inflate = nullptr;                 ///< or null: nobody asks
  std::shared_ptr<KnownLengths> lengths = nullptr;  ///< of shards walked once (late_reading)
  RecordLoader* loader = nullptr;                   ///< whose open shards a global shuffle reads
  std::function<Status()> check_memory = nullptr;   ///< kCancelled: no more records, now; null: none asks
};

std::unique_ptr<RecordStage> make_source(const SourceContext& context, const SourceOptions& options);

/// Reads single records again from the same shards (restoring buffers).
std::unique_ptr<RecordFetcher> make_fetcher(const SourceContext& context, const SourceOptions& options);

}  // namespace headrace

// CachedEpoch: the encoded batches of one pass, in memory or in a file; and EpochWriter, who makes one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "batch/batch_cache.h"
#include "headrace/status.h"

namespace headrace {

using EncodedBatch = std::vector<std::uint8_t>;  // slice_codec.h

/// Constant; any thread.
class CachedEpoch {
 public:
  virtual ~CachedEpoch() = default;
  virtual const std::vector<KnownBatch>& batches() const = 0;
  virtual std::int64_t memory_bytes() const = 0;
  /// The bytes of a batch, in `room` or in memory that stays as long as this. kDataLoss when they are damaged.
  virtual Result<std::span<const std::uint8_t>> read(std::int64_t slot, EncodedBatch* room) const = 0;
};

/// Batches come from several threads, in any order, each once; finish() comes behind all of them. Without finish() nothing
/// is left.
class EpochWriter {
 public:
  virtual ~EpochWriter() = default;
  virtual Status add(std::int64_t slot, const KnownBatch& known, EncodedBatch bytes) = 0;
  virtual Result<std::shared_ptr<const CachedEpoch>> finish() = 0;
};

std::unique_ptr<EpochWriter> make_memory_writer();

}  // namespace headrace

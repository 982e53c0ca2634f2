// BatchCache: what the cache stage asks of the cache of parsed batches, which stands behind the parser.
//
// The stage decides which batches are read and which are there; who parses them keeps them (CachePlace in record_batch.h).
// The stage's calls come from one thread, the sequencer; batches are kept by others meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "headrace/status.h"

namespace headrace {

/// The batches of one pass that are being kept. Dropped, it leaves nothing behind.
class CacheFilling {
 public:
  virtual ~CacheFilling() = default;
  /// No batch follows the first `batches`. A failure when that was the last that was lacking and they cannot be kept.
  virtual Status end(std::int64_t batches) = 0;
  /// Behind end(): waits until all are kept, so that the cache has them. kCancelled, or why they are not.
  virtual Status wait(const std::stop_token& stop) = 0;
};

/// What is known of a batch without looking at it.
struct KnownBatch {
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
};

class BatchCache {
 public:
  virtual ~BatchCache() = default;
  /// How many batches there are, once all are.
  virtual std::optional<std::int64_t> batches() = 0;
  /// One of them.
  virtual KnownBatch at(std::int64_t slot) const = 0;
  virtual std::shared_ptr<CacheFilling> fill() = 0;
};

}  // namespace headrace

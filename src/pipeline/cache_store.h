// The cache of parsed batches behind cache(): CacheStore is what the pipelines of a dataset share, PipelineCache what one of
// them does with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_cache.h"
#include "batch/record_batch.h"
#include "headrace/batch.h"
#include "pipeline/cached_epoch.h"
#include "runtime/mutex.h"
#include "runtime/probe.h"
#include "tensor/buffer_pool.h"

namespace headrace {

/// Any thread.
class CacheStore {
 public:
  explicit CacheStore(std::string path) : path_(std::move(path)) {}

  /// What was cached of `identity` (cache_identity.h), by this process or in the file; null: nothing yet.
  Result<std::shared_ptr<const CachedEpoch>> find(const std::string& identity) HEADRACE_EXCLUDES(mutex_);
  /// The same without a look at the file.
  std::shared_ptr<const CachedEpoch> known(const std::string& identity) const HEADRACE_EXCLUDES(mutex_);
  void put(const std::string& identity, std::shared_ptr<const CachedEpoch> epoch) HEADRACE_EXCLUDES(mutex_);
  Result<std::unique_ptr<EpochWriter>> make_writer(const std::string& identity) const;
  bool in_memory() const { return path_.empty(); }

 private:
  const std::string path_;  // empty: in memory
  mutable Mutex mutex_;
  std::string identity_ HEADRACE_GUARDED_BY(mutex_);
  std::shared_ptr<const CachedEpoch> epoch_ HEADRACE_GUARDED_BY(mutex_);
};

struct PipelineCacheOptions {
  std::int64_t memory_bytes = 0;                       ///< of the pipeline; 0: no limit
  std::int64_t batches_ahead = 0;                      ///< that the pipeline holds beside the cache
  std::optional<std::int64_t> batches = std::nullopt;  ///< of an epoch, for a failure's text
  StageProbe* probe = nullptr;                         ///< outlives the cache
};

/// keep(), give_up() and read() come from any thread, the others as BatchCache says.
class PipelineCache final : public BatchCache {
 public:
  /// Looks for a file. What it shares with other pipelines is theirs, too.
  static Result<std::unique_ptr<PipelineCache>> open(std::shared_ptr<CacheStore> store, std::string identity,
                                                     std::shared_ptr<BufferPool> buffers,
                                                     const PipelineCacheOptions& options);

  std::optional<std::int64_t> batches() override;
  KnownBatch at(std::int64_t slot) const override;
  std::shared_ptr<CacheFilling> fill() override;

  /// What was made of `records`, whose CachePlace has a filling. kResourceExhausted names the memory needed.
  Status keep(const RecordBatch& records, const std::vector<Slice>& slices);
  /// Instead of keep(): nothing was made of them.
  static void give_up(const CachePlace& place, const Status& failure);
  /// A batch that is served.
  Result<std::vector<Slice>> read(std::int64_t slot);

  std::int64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  class Filling;
  PipelineCache(std::shared_ptr<CacheStore> store, std::string identity, std::shared_ptr<BufferPool> buffers,
                const PipelineCacheOptions& options)
      : store_(std::move(store)), identity_(std::move(identity)), buffers_(std::move(buffers)), options_(options) {}
  Status check_memory(std::int64_t bytes, std::int64_t kept, std::int64_t batch_bytes) const;

  const std::shared_ptr<CacheStore> store_;
  const std::string identity_;
  const std::shared_ptr<BufferPool> buffers_;
  const PipelineCacheOptions options_;
  std::shared_ptr<const CachedEpoch> whole_;  // set by the sequencer before it hands out a place in it
  std::atomic<std::int64_t> memory_bytes_{0};
};

}  // namespace headrace

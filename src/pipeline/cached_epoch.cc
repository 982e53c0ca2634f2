#include "pipeline/cached_epoch.h"

#include <utility>

#include "runtime/mutex.h"

namespace headrace {
namespace {

class MemoryEpoch final : public CachedEpoch {
 public:
  MemoryEpoch(std::vector<KnownBatch> batches, std::vector<EncodedBatch> bytes)
      : batches_(std::move(batches)), bytes_(std::move(bytes)) {}

  const std::vector<KnownBatch>& batches() const override { return batches_; }
  std::int64_t memory_bytes() const override {
    std::int64_t sum = 0;
    for (const EncodedBatch& batch : bytes_) sum += std::ssize(batch);
    return sum;
  }
  Result<std::span<const std::uint8_t>> read(std::int64_t slot, EncodedBatch*) const override {
    return std::span<const std::uint8_t>(bytes_[static_cast<std::size_t>(slot)]);
  }

 private:
  const std::vector<KnownBatch> batches_;
  const std::vector<EncodedBatch> bytes_;
};

class MemoryWriter final : public EpochWriter {
 public:
  Status add(std::int64_t slot, const KnownBatch& known, EncodedBatch bytes) override {
    const auto place = static_cast<std::size_t>(slot);
    MutexLock lock(mutex_);
    if (place >= bytes_.size()) {
      bytes_.resize(place + 1);
      batches_.resize(place + 1);
    }
    batches_[place] = known;
    bytes_[place] = std::move(bytes);
    return {};
  }

  Result<std::shared_ptr<const CachedEpoch>> finish() override {
    MutexLock lock(mutex_);
    return std::shared_ptr<const CachedEpoch>(
        std::make_shared<const MemoryEpoch>(std::move(batches_), std::move(bytes_)));
  }

 private:
  Mutex mutex_;
  std::vector<KnownBatch> batches_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<EncodedBatch> bytes_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<EpochWriter> make_memory_writer() { return std::make_unique<MemoryWriter>(); }

}  // namespace headrace

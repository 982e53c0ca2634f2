#include "pipeline/cache_store.h"

#include <string>
#include <utility>

#include "pipeline/cache_file.h"
#include "pipeline/locate.h"
#include "tensor/slice_codec.h"

namespace headrace {

Result<std::shared_ptr<const CachedEpoch>> CacheStore::find(const std::string& identity) {
  std::shared_ptr<const CachedEpoch> epoch = known(identity);
  if (epoch != nullptr || in_memory()) return epoch;
  HEADRACE_ASSIGN_OR_RETURN(epoch, open_cache_file(path_, identity));
  if (epoch != nullptr) put(identity, epoch);
  return epoch;
}

std::shared_ptr<const CachedEpoch> CacheStore::known(const std::string& identity) const {
  MutexLock lock(mutex_);
  return identity == identity_ ? epoch_ : nullptr;
}

void CacheStore::put(const std::string& identity, std::shared_ptr<const CachedEpoch> epoch) {
  MutexLock lock(mutex_);
  identity_ = identity;
  epoch_ = std::move(epoch);
}

Result<std::unique_ptr<EpochWriter>> CacheStore::make_writer(const std::string& identity) const {
  if (in_memory()) return make_memory_writer();
  return make_file_writer(path_, identity);
}

// One pass. What goes wrong is told where it happens and to whoever waits for the whole.
class PipelineCache::Filling final : public CacheFilling {
 public:
  explicit Filling(PipelineCache* cache) : cache_(cache), writer_(cache->store_->make_writer(cache->identity_)) {}

  Status end(std::int64_t batches) override {
    MutexLock lock(mutex_);
    batches_ = batches;
    return finish_if_whole();
  }

  Status wait(const std::stop_token& stop) override {
    MutexLock lock(mutex_);
    const bool is_known =
        done_.wait(mutex_, stop, [this]() HEADRACE_REQUIRES(mutex_) { return is_whole_ || !failure_.ok(); });
    return is_known ? failure_ : cancelled("closed while waiting for the last batches of a cache");
  }

  Status keep(std::int64_t slot, const KnownBatch& known, std::int64_t batch_bytes, EncodedBatch bytes) {
    if (!writer_.ok()) return fail(writer_.status());
    const auto size = static_cast<std::int64_t>(bytes.size());
    const Status added = (*writer_)->add(slot, known, std::move(bytes));
    if (!added.ok()) return fail(added);
    MutexLock lock(mutex_);
    ++kept_;
    bytes_ += size;
    if (cache_->store_->in_memory()) cache_->memory_bytes_.store(bytes_, std::memory_order_relaxed);
    const Status enough = cache_->check_memory(bytes_, kept_, batch_bytes);
    if (enough.ok()) return finish_if_whole();
    if (failure_.ok()) failure_ = enough;
    done_.notify_all();
    return enough;
  }

  Status fail(const Status& failure) {
    {
      MutexLock lock(mutex_);
      if (failure_.ok()) failure_ = failure;
    }
    done_.notify_all();
    return failure;
  }

 private:
  Status finish_if_whole() HEADRACE_REQUIRES(mutex_) {
    if (batches_ != kept_ || is_whole_ || !failure_.ok()) return {};
    if (!writer_.ok()) return failure_ = writer_.status();
    Result<std::shared_ptr<const CachedEpoch>> epoch = (*writer_)->finish();
    if (!epoch.ok()) return failure_ = epoch.status();
    cache_->store_->put(cache_->identity_, std::move(*epoch));
    is_whole_ = true;
    done_.notify_all();
    return {};
  }

  PipelineCache* const cache_;
  const Result<std::unique_ptr<EpochWriter>> writer_;
  Mutex mutex_;
  CondVar done_;
  std::optional<std::int64_t> batches_ HEADRACE_GUARDED_BY(mutex_);  // how many there are, once that is known
  std::int64_t kept_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::int64_t bytes_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool is_whole_ HEADRACE_GUARDED_BY(mutex_) = false;
  Status failure_ HEADRACE_GUARDED_BY(mutex_);
};

Result<std::unique_ptr<PipelineCache>> PipelineCache::open(std::shared_ptr<CacheStore> store, std::string identity,
                                                           std::shared_ptr<BufferPool> buffers,
                                                           const PipelineCacheOptions& options) {
  HEADRACE_RETURN_IF_ERROR(store->find(identity).status());
  return std::unique_ptr<PipelineCache>(
      new PipelineCache(std::move(store), std::move(identity), std::move(buffers), options));
}

std::optional<std::int64_t> PipelineCache::batches() {
  if (whole_ == nullptr) whole_ = store_->known(identity_);
  if (whole_ == nullptr) return std::nullopt;
  memory_bytes_.store(whole_->memory_bytes(), std::memory_order_relaxed);
  return static_cast<std::int64_t>(whole_->batches().size());
}

KnownBatch PipelineCache::at(std::int64_t slot) const { return whole_->batches()[static_cast<std::size_t>(slot)]; }

std::shared_ptr<CacheFilling> PipelineCache::fill() { return std::make_shared<Filling>(this); }

Status PipelineCache::keep(const RecordBatch& records, const std::vector<Slice>& slices) {
  const ProbeTimer timer(options_.probe->busy_ns);
  EncodedBatch bytes = encode_slices(slices);
  options_.probe->add(records.rows, static_cast<std::int64_t>(bytes.size()));
  auto* const filling = static_cast<Filling*>(records.cache->filling.get());
  return filling->keep(records.cache->slot, {records.rows, records.epoch}, column_bytes(slices), std::move(bytes));
}

void PipelineCache::give_up(const CachePlace& place, const Status& failure) {
  (void)static_cast<Filling*>(place.filling.get())->fail(failure);
}

Result<std::vector<Slice>> PipelineCache::read(std::int64_t slot) {
  const ProbeTimer timer(options_.probe->busy_ns);
  EncodedBatch room;
  HEADRACE_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> bytes, whole_->read(slot, &room));
  options_.probe->add(at(slot).rows, static_cast<std::int64_t>(bytes.size()));
  return decode_slices(bytes, *buffers_);
}

// Of a limited budget half is for record blocks; the cache and the batches that are on their way share the rest.
Status PipelineCache::check_memory(std::int64_t bytes, std::int64_t kept, std::int64_t batch_bytes) const {
  if (!store_->in_memory() || options_.memory_bytes == 0) return {};
  const std::int64_t on_their_way = options_.batches_ahead * batch_bytes;
  if (bytes + on_their_way <= options_.memory_bytes / 2) return {};
  const bool is_known = options_.batches && *options_.batches > kept;
  const std::int64_t all = is_known ? bytes / kept * *options_.batches : bytes;
  return {StatusCode::kResourceExhausted,
          "memory_bytes=" + std::to_string(options_.memory_bytes) + " is too small for cache(): its first " +
              std::to_string(kept) + " batches have " + std::to_string(bytes) + " bytes, all of them need " +
              (is_known ? "about " : "more than ") + std::to_string(2 * (all + on_their_way)) +
              "; cache(path) keeps them in a file"};
}

}  // namespace headrace

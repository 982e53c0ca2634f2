#include "support/fake_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "headrace/example.h"
#include "runtime/mutex.h"

namespace headrace::testing {
namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kFooter = 4;

std::size_t payload_size(std::int64_t number, bool lists) {
  return (lists ? 50 : 20) + random_below(0xFA4E, static_cast<std::uint64_t>(number), 40);
}

/// Header offsets of the records of the shards, as if they stood in files.
class Shards {
 public:
  explicit Shards(const FakeSourceOptions& options)
      : shards_(std::max<std::uint32_t>(options.shards, 1)), lists_(options.lists) {
    offsets_.resize(shards_);
    std::vector<std::uint64_t> ends(shards_, 0);
    for (std::int64_t i = 0; i < options.records; ++i) {
      const std::size_t shard = static_cast<std::size_t>(i) % shards_;
      offsets_[shard].push_back(ends[shard]);
      ends[shard] += kHeader + payload_size(i, lists_) + kFooter;
    }
  }

  std::uint32_t count() const { return shards_; }
  std::size_t records(std::uint32_t shard) const { return offsets_[shard].size(); }
  std::uint64_t offset(std::uint32_t shard, std::uint64_t ordinal) const { return offsets_[shard][ordinal]; }

  /// A published block of the records [first, first + count) of `shard`.
  RecordBlock* make_block(BlockPool* blocks, std::uint32_t shard, std::uint64_t first, std::uint64_t count) const {
    std::size_t bytes = 0;
    for (std::uint64_t i = first; i < first + count; ++i)
      bytes += kHeader + payload_size(number(shard, i), lists_) + kFooter;
    RecordBlock* block = blocks->acquire(bytes);
    block->shard = shard;
    block->first_ordinal = first;
    block->stream_offset = offset(shard, first);
    block->records.clear();
    std::size_t place = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::string payload = fake_payload(number(shard, i), lists_);
      place += kHeader;
      std::memcpy(block->data + place, payload.data(), payload.size());
      block->records.push_back({static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(payload.size())});
      place += payload.size() + kFooter;
    }
    blocks->publish(block);
    return block;
  }

 private:
  std::int64_t number(std::uint32_t shard, std::uint64_t ordinal) const {
    return static_cast<std::int64_t>(ordinal * shards_ + shard);
  }

  std::uint32_t shards_;
  bool lists_;
  std::vector<std::vector<std::uint64_t>> offsets_;
};

class FakeSource final : public RecordStage {
 public:
  FakeSource(BlockPool* blocks, const FakeSourceOptions& options)
      : blocks_(blocks), options_(options), shards_(options), open_(shards_.count()) {}
  ~FakeSource() override { drop_open(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    std::size_t limit = max_records;
    if (options_.chunk_seed != 0) limit = 1 + random_below(options_.chunk_seed, pulls_++, max_records);
    std::size_t got = 0;
    while (got < limit && next_ < options_.records && !fails_here() && next_ != options_.block_at) {
      hand_out(runs, got == 0);
      ++got;
    }
    if (got > 0) return got;
    if (fails_here()) {
      return data_loss("a damaged record", {.path = "fake", .record = next_});
    }
    if (next_ == options_.block_at) {
      Mutex mutex;
      CondVar never;
      mutex.lock();
      never.wait(mutex, stop, [] { return false; });
      mutex.unlock();
      return cancelled("stopped while waiting for a record");
    }
    return std::size_t{0};
  }

  void begin_epoch(std::uint64_t epoch) override {
    drop_open();
    epoch_ = epoch;
    next_ = 0;
  }

  void save(StateDelta* state) override {
    state->words.push_back(epoch_);
    state->words.push_back(static_cast<std::uint64_t>(next_));
  }

  Status restore(StateReader* state, RecordFetcher*) override {
    HEADRACE_ASSIGN_OR_RETURN(epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t next, state->word());
    if (next > static_cast<std::uint64_t>(options_.records)) return invalid_argument("no such record");
    next_ = static_cast<std::int64_t>(next);
    return {};
  }

 private:
  struct Open {
    RecordBlock* block = nullptr;
    std::uint32_t next = 0;  ///< record of the block that comes next
  };

  bool fails_here() const {
    const bool this_epoch = options_.fail_epoch < 0 || epoch_ == static_cast<std::uint64_t>(options_.fail_epoch);
    return this_epoch && next_ == options_.fail_at;
  }

  void hand_out(std::vector<RecordRun>* runs, bool first_of_pull) {
    const auto shard = static_cast<std::uint32_t>(static_cast<std::size_t>(next_) % shards_.count());
    const std::uint64_t ordinal = static_cast<std::uint64_t>(next_) / shards_.count();
    Open& open = open_[shard];
    if (open.block == nullptr) {
      const std::uint64_t left = shards_.records(shard) - ordinal;
      open.block = shards_.make_block(
          blocks_, shard, ordinal, std::min<std::uint64_t>(left, static_cast<std::uint64_t>(options_.block_records)));
      open.next = 0;
    }
    RecordRun* last = first_of_pull || runs->empty() ? nullptr : &runs->back();
    if (last != nullptr && last->block == open.block && last->first + last->count == open.next) {
      ++last->count;
    } else {
      runs->push_back({open.block, open.next, 1});
    }
    if (++open.next == open.block->records.size()) open = {};
    ++next_;
  }

  void drop_open() {
    for (Open& open : open_) {
      if (open.block != nullptr) {
        const RecordRun rest{open.block, open.next, static_cast<std::uint32_t>(open.block->records.size()) - open.next};
        blocks_->release({&rest, 1});
      }
      open = {};
    }
  }

  BlockPool* const blocks_;
  const FakeSourceOptions options_;
  const Shards shards_;
  std::vector<Open> open_;
  std::uint64_t epoch_ = 0;
  std::int64_t next_ = 0;
  std::uint64_t pulls_ = 0;
};

class FakeFetcher final : public RecordFetcher {
 public:
  FakeFetcher(BlockPool* blocks, const FakeSourceOptions& options) : blocks_(blocks), shards_(options) {}

  Status fetch(std::span<const RecordId> ids, std::vector<RecordRun>* runs) override {
    for (const RecordId& id : ids) {
      if (id.shard >= shards_.count() || id.ordinal >= shards_.records(id.shard) ||
          id.offset != shards_.offset(id.shard, id.ordinal)) {
        return data_loss("the saved position names a record that is not there",
                         {.path = "fake", .record = static_cast<std::int64_t>(id.ordinal)});
      }
      runs->push_back({shards_.make_block(blocks_, id.shard, id.ordinal, 1), 0, 1});
    }
    return {};
  }

 private:
  BlockPool* const blocks_;
  const Shards shards_;
};

}  // namespace

std::int64_t fake_number(const RecordId& id, std::uint32_t shards) {
  return static_cast<std::int64_t>(id.ordinal * shards + id.shard);
}

std::string fake_payload(std::int64_t number, bool lists) {
  ExampleBuilder example;
  example.add_int64("n", {&number, 1});
  const std::vector<std::int64_t> list(static_cast<std::size_t>(number % kFakeLists));
  if (lists) example.add_int64("list", list);
  std::string payload = example.build();
  const std::size_t padding = payload_size(number, lists) - payload.size();
  payload += {'\x7A', static_cast<char>(padding - 2)};  // an unknown field
  payload.append(padding - 2, ' ');
  return payload;
}

std::unique_ptr<RecordStage> make_fake_source(BlockPool* blocks, const FakeSourceOptions& options) {
  return std::make_unique<FakeSource>(blocks, options);
}

std::unique_ptr<RecordFetcher> make_fake_fetcher(BlockPool* blocks, const FakeSourceOptions& options) {
  return std::make_unique<FakeFetcher>(blocks, options);
}

}  // namespace headrace::testing

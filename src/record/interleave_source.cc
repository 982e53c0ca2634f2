// The source stage. Its order is that of tf.data's Dataset.interleave: slots are visited in turn, `block_length` records
// each; a slot whose shard is exhausted is left at once and gets the next shard when it is visited again.
#include <algorithm>
#include <deque>

#include "record/shard_stream.h"
#include "record/source.h"

namespace headrace {
namespace {

// What lies behind a network is a round trip away: so many bytes of it are opened ahead, in so many shards.
constexpr std::uint64_t kFarBytes = 64 << 20;
constexpr std::size_t kMostFarShards = 32;
// With so little left, all of a shard is on its way, and the one that follows in its slot can be sent for.
constexpr std::uint64_t kFarEndBytes = 8 << 20;

ShardParts all_of(const ShardList& shards) {
  ShardParts parts;
  for (std::uint32_t shard = 0; shard < shards.files.size(); ++shard) parts.push_back({.shard = shard});
  return parts;
}

class InterleaveSource : public RecordStage {
 public:
  InterleaveSource(const SourceContext& context, const SourceOptions& options)
      : shared_(std::make_shared<ReadAhead>(context, options)),
        parts_(context.parts != nullptr ? *context.parts : all_of(*context.shards)),
        block_length_(static_cast<std::uint64_t>(std::max<std::int64_t>(options.block_length, 1))),
        slots_(std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(options.cycle_length, 1)), 1,
                                       std::max<std::size_t>(parts_.size(), 1))) {}
  ~InterleaveSource() override { reset(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs, const std::stop_token& stop) override;
  void begin_epoch(std::uint64_t epoch) override;
  void save(StateDelta* state) override;
  Status restore(StateReader* state, RecordFetcher* fetcher) override;

 private:
  // One place of the cycle. `stream` is null when no shard is open in it.
  struct Slot {
    std::shared_ptr<ShardStream> stream;
    std::size_t part = 0;          // that it reads
    RecordBlock* block = nullptr;  // records [next, next + left) are not yet handed out
    std::uint32_t next = 0;
    std::uint32_t left = 0;
    ShardPlace place;  // behind the last record handed out
  };
  enum class Visit : std::uint8_t { kReady = 1, kMoved, kNotReady, kEnd, kFailed };

  Visit visit(Slot* slot);
  Visit refill(Slot* slot);
  Visit open_next(Slot* slot);
  std::size_t hand_out(Slot* slot, std::size_t most, std::vector<RecordRun>* runs);
  void warn_of_empty(std::uint32_t shard);
  void leave_slot();
  bool take_ready_slot();
  Status wait(const std::stop_token& stop);
  void open_ahead();
  const ShardFile& file_of(std::size_t part) const { return shared_->context.shards->files[parts_[part].shard]; }
  bool wants_far_shard() const;
  std::size_t ending_slots() const;
  void reset();
  void close_slot(Slot* slot);
  std::shared_ptr<ShardStream> make_stream(std::size_t part, ShardPlace start);

  // constant after construction
  const std::shared_ptr<ReadAhead> shared_;
  const ShardParts parts_;
  const std::uint64_t block_length_;

  // the sequencer's
  std::vector<Slot> slots_;
  std::deque<std::shared_ptr<ShardStream>> ahead_;  // of parts next_part_, next_part_ + 1, …
  std::size_t next_part_ = 0;
  std::size_t open_ = 0;     // slots with a shard
  std::size_t current_ = 0;  // slot
  std::uint64_t taken_ = 0;  // records handed out of the current slot's turn
  Status failure_;
};

std::shared_ptr<ShardStream> InterleaveSource::make_stream(std::size_t part, ShardPlace start) {
  return std::make_shared<ShardStream>(shared_, parts_[part].shard, start);
}

bool InterleaveSource::wants_far_shard() const {
  if (ahead_.size() >= kMostFarShards) return false;
  if (file_of(next_part_ + ahead_.size()).origin == nullptr) return false;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < ahead_.size(); ++i) bytes += file_of(next_part_ + i).bytes;
  return bytes < kFarBytes;
}

// Slots whose shard lies behind a network and is nearly read.
std::size_t InterleaveSource::ending_slots() const {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [this](const Slot& slot) {
    if (slot.stream == nullptr) return false;
    const ShardFile& file = file_of(slot.part);
    return file.origin != nullptr && file.bytes < slot.place.offset + kFarEndBytes;
  }));
}

void InterleaveSource::open_ahead() {
  const std::size_t wanted =
      slots_.size() - open_ + ending_slots() + static_cast<std::size_t>(shared_->options.shards_ahead);
  while (next_part_ + ahead_.size() < parts_.size() && (ahead_.size() < wanted || wants_far_shard())) {
    const std::size_t part = next_part_ + ahead_.size();
    ahead_.push_back(make_stream(part, parts_[part].first));
    ahead_.back()->start(ahead_.size());
  }
}

// The list of files has told of those of 0 bytes; here a compressed shard of nothing shows.
void InterleaveSource::warn_of_empty(std::uint32_t shard) {
  const ShardFile& file = shared_->context.shards->files[shard];
  if (file.bytes > 0) shared_->context.warnings->add("empty shard", "a shard without records: " + file.path);
}

void InterleaveSource::leave_slot() {
  taken_ = 0;
  current_ = current_ + 1 == slots_.size() ? 0 : current_ + 1;
}

InterleaveSource::Visit InterleaveSource::open_next(Slot* slot) {
  if (next_part_ == parts_.size()) {
    if (open_ == 0) return Visit::kEnd;
    leave_slot();
    return Visit::kMoved;
  }
  open_ahead();
  slot->stream = std::move(ahead_.front());
  slot->part = next_part_;
  slot->place = parts_[next_part_].first;
  ahead_.pop_front();
  ++next_part_;
  ++open_;
  open_ahead();
  return Visit::kMoved;
}

void InterleaveSource::close_slot(Slot* slot) {
  slot->stream.reset();
  --open_;
  leave_slot();
  open_ahead();
}

InterleaveSource::Visit InterleaveSource::refill(Slot* slot) {
  const ShardPart& part = parts_[slot->part];
  if (slot->place.ordinal >= part.end_ordinal) {
    slot->stream->abandon();
    close_slot(slot);
    return Visit::kMoved;
  }
  ShardPiece piece;
  const ReadStep step = slot->stream->take(&piece);
  if (step == ReadStep::kWouldWait) return Visit::kNotReady;
  for (const SkippedRegion& damage : piece.damage) {
    const bool is_ours =
        damage.reason.where().record < 0 || static_cast<std::uint64_t>(damage.reason.where().record) < part.end_ordinal;
    if (is_ours && failure_.ok()) failure_ = shared_->context.skipped->add(damage);
  }
  if (step == ReadStep::kBlock) {
    const std::uint64_t first_ordinal = piece.block->first_ordinal;
    const auto records = static_cast<std::uint32_t>(piece.block->records.size());
    const std::uint64_t wanted = part.end_ordinal - std::min(part.end_ordinal, first_ordinal);
    slot->block = piece.block;
    slot->next = 0;
    slot->left = static_cast<std::uint32_t>(std::min<std::uint64_t>(records, wanted));
    if (slot->left < records) {
      const RecordRun behind{piece.block, slot->left, records - slot->left};
      shared_->context.blocks->release({&behind, 1});
    }
    if (slot->left == 0 && failure_.ok()) {  // a damage reached over the end of the part
      slot->place.ordinal = first_ordinal;
      return Visit::kMoved;
    }
    if (file_of(slot->part).origin != nullptr) open_ahead();
    return failure_.ok() ? Visit::kReady : Visit::kFailed;
  }
  if (step == ReadStep::kFailed && failure_.ok()) failure_ = piece.failure;
  if (!failure_.ok()) return Visit::kFailed;
  if (slot->place.ordinal == 0 && piece.damage.empty()) warn_of_empty(slot->stream->shard());
  close_slot(slot);
  return Visit::kMoved;
}

InterleaveSource::Visit InterleaveSource::visit(Slot* slot) {
  if (slot->left > 0) return Visit::kReady;
  return slot->stream == nullptr ? open_next(slot) : refill(slot);
}

std::size_t InterleaveSource::hand_out(Slot* slot, std::size_t most, std::vector<RecordRun>* runs) {
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({slot->left, block_length_ - taken_, static_cast<std::uint64_t>(most)}));
  runs->push_back({slot->block, slot->next, count});
  slot->next += count;
  slot->left -= count;
  const RecordBlock& block = *slot->block;
  const RecordSpan& last = block.records[slot->next - 1];
  slot->place = {block.first_ordinal + slot->next, block.stream_offset + last.offset + last.length + kFooterBytes};
  taken_ += count;
  if (taken_ == block_length_) leave_slot();
  return count;
}

bool InterleaveSource::take_ready_slot() {
  for (std::size_t i = 1; i < slots_.size(); ++i) {
    const std::size_t candidate = (current_ + i) % slots_.size();
    const Slot& slot = slots_[candidate];
    bool ready = slot.left > 0;
    if (!ready && slot.stream != nullptr) {
      MutexLock lock(shared_->mutex);
      ready = slot.stream->ready();
    }
    if (!ready) continue;
    current_ = candidate;
    taken_ = 0;
    return true;
  }
  return false;
}

Status InterleaveSource::wait(const std::stop_token& stop) {
  const bool any = !shared_->options.read.deterministic;
  MutexLock lock(shared_->mutex);
  const auto wanted = static_cast<std::int64_t>(block_length_ - taken_);
  shared_->waits_for_any = any;
  shared_->waits_for_shard = slots_[current_].stream->shard();
  shared_->waits_for_records = wanted;
  ReadWait* const told = shared_->context.wait;
  if (told != nullptr) {
    told->file_position = static_cast<std::int64_t>(slots_[current_].stream->file_position());
    told->shard = slots_[current_].stream->shard();
  }
  const bool ready = shared_->changed.wait(shared_->mutex, stop, [this, any, wanted] {
    if (!any) return slots_[current_].stream->ready(wanted);
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.stream != nullptr && slot.stream->ready(); });
  });
  shared_->waits_for_any = false;
  shared_->waits_for_shard = -1;
  if (told != nullptr) told->shard = -1;
  return ready ? Status() : cancelled("stopped while waiting for records");
}

Result<std::size_t> InterleaveSource::pull(std::size_t max_records, std::vector<RecordRun>* runs,
                                           const std::stop_token& stop) {
  std::size_t records = 0;
  if (shared_->context.check_memory) HEADRACE_RETURN_IF_ERROR(shared_->context.check_memory());
  while (records < max_records && failure_.ok()) {
    Slot* slot = &slots_[current_];
    switch (visit(slot)) {
      case Visit::kReady:
        records += hand_out(slot, max_records - records, runs);
        break;
      case Visit::kNotReady:
        if (!shared_->options.read.deterministic && take_ready_slot()) break;
        if (records > 0) return records;
        HEADRACE_RETURN_IF_ERROR(wait(stop));
        break;
      case Visit::kEnd:
        return records;
      case Visit::kMoved:
      case Visit::kFailed:
        break;
    }
  }
  if (records > 0) return records;
  return failure_;
}

void InterleaveSource::reset() {
  for (Slot& slot : slots_) {
    const RecordRun held{slot.block, slot.next, slot.left};
    if (slot.left > 0) shared_->context.blocks->release({&held, 1});
    if (slot.stream != nullptr) slot.stream->abandon();
    slot = Slot();
  }
  for (const auto& stream : ahead_) stream->abandon();
  ahead_.clear();
  next_part_ = 0;
  open_ = 0;
  current_ = 0;
  taken_ = 0;
  failure_ = Status();
}

void InterleaveSource::begin_epoch(std::uint64_t) {
  reset();
  open_ahead();
}

void InterleaveSource::save(StateDelta* state) {
  state->words.insert(state->words.end(), {slots_.size(), current_, taken_, next_part_});
  for (const Slot& slot : slots_) {
    const std::uint64_t part = slot.stream != nullptr ? slot.part + std::uint64_t{1} : 0;
    state->words.insert(state->words.end(), {part, slot.place.ordinal, slot.place.offset});
  }
}

Status InterleaveSource::restore(StateReader* state, RecordFetcher*) {
  reset();
  std::uint64_t slots = 0;
  std::uint64_t next_part = 0;
  HEADRACE_ASSIGN_OR_RETURN(slots, state->word());
  HEADRACE_ASSIGN_OR_RETURN(current_, state->word());
  HEADRACE_ASSIGN_OR_RETURN(taken_, state->word());
  HEADRACE_ASSIGN_OR_RETURN(next_part, state->word());
  const bool fits = slots == slots_.size() && current_ < slots && taken_ < block_length_ && next_part <= parts_.size();
  if (!fits) {
    reset();
    return invalid_argument("the saved position does not fit these shards and this interleave");
  }
  next_part_ = next_part;
  for (Slot& slot : slots_) {
    std::uint64_t part = 0;
    HEADRACE_ASSIGN_OR_RETURN(part, state->word());
    HEADRACE_ASSIGN_OR_RETURN(slot.place.ordinal, state->word());
    HEADRACE_ASSIGN_OR_RETURN(slot.place.offset, state->word());
    if (part == 0) continue;
    if (part > next_part_) {
      reset();
      return invalid_argument("the saved position names a shard that was not yet open");
    }
    slot.part = part - 1;
    slot.stream = make_stream(slot.part, slot.place);
    ++open_;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[(current_ + i) % slots_.size()];
    if (slot.stream != nullptr) slot.stream->start(i);
  }
  open_ahead();
  return {};
}

}  // namespace

std::unique_ptr<RecordStage> make_source(const SourceContext& context, const SourceOptions& options) {
  return std::make_unique<InterleaveSource>(context, options);
}

}  // namespace headrace

#include "record/shard_reader.h"

#include <algorithm>
#include <cstring>

#include "base/wire.h"
#include "headrace/index.h"
#include "record/length_limit.h"
#include "shard/content.h"

namespace headrace {
namespace {

constexpr std::size_t kLargeRecordBytes = 16 * 1024;
constexpr std::size_t kSmallestBlockBytes = 64 * 1024;
constexpr std::size_t kLargestBlockBytes = 256 * 1024;
// So that a record that stays for long (in a shuffle buffer) does not keep many others in memory.
constexpr std::size_t kRecordsPerBlock = 16;
// A record whose end cannot be checked against a file size grows from here by doubling.
constexpr std::uint64_t kFirstGrowthBytes = 4 << 20;
// Inflating so much takes longer than looking for an index.
constexpr std::uint64_t kWorthAnIndex = 1 << 20;
constexpr std::uint64_t kImpossibleLength = std::uint64_t{1} << 62;

Compression compression_of(CompressionType type) { return static_cast<Compression>(type); }
static_assert(static_cast<int>(Compression::kNone) == static_cast<int>(CompressionType::kNone));
static_assert(static_cast<int>(Compression::kGzip) == static_cast<int>(CompressionType::kGzip));
static_assert(static_cast<int>(Compression::kZlib) == static_cast<int>(CompressionType::kZlib));
static_assert(static_cast<int>(Compression::kZstd) == static_cast<int>(CompressionType::kZstd));
static_assert(static_cast<int>(Compression::kSnappy) == static_cast<int>(CompressionType::kSnappy));

}  // namespace

ShardReader::ShardReader(BlockPool* blocks, ShardFile file, std::uint32_t shard, const ReadOptions& options,
                         ShardPlace start)
    : blocks_(blocks),
      file_(std::move(file)),
      shard_(shard),
      options_(options),
      start_(start),
      scan_options_{.verify = options.verify, .max_length = length_limit(options)},
      ordinal_(start.ordinal),
      block_bytes_(kSmallestBlockBytes) {}

ShardReader::~ShardReader() {
  if (block_ != nullptr) blocks_->discard(block_);
}

Where ShardReader::here() const {
  const std::uint64_t offset = block_ != nullptr ? block_->stream_offset + scanned_ : start_.offset;
  return {
      .path = file_.path, .record = static_cast<std::int64_t>(ordinal_), .offset = static_cast<std::int64_t>(offset)};
}

std::string ShardReader::at(const char* what) const {
  return std::string(what) + " record at " + std::to_string(here().offset);
}

ReadStep ShardReader::step(bool may_wait, ShardPiece* piece) {
  if (phase_ == Phase::kClosed) {
    if (!may_wait && !may_open_now()) return ReadStep::kWouldWait;
    const Status opened = open();
    if (!opened.ok()) damaged(opened, 0);
  }
  while (ready_ == nullptr && (phase_ == Phase::kFraming || phase_ == Phase::kResyncing)) {
    if (!fill(may_wait)) return ReadStep::kWouldWait;
    if (phase_ == Phase::kFraming) {
      frame();
    } else if (phase_ == Phase::kResyncing) {
      resync();
    }
  }
  if (ready_ != nullptr) {
    piece->block = std::exchange(ready_, nullptr);
    piece->damage = std::exchange(ready_damage_, {});
    return ReadStep::kBlock;
  }
  piece->damage = std::exchange(damage_, {});
  if (phase_ == Phase::kEnded) return ReadStep::kEnd;
  piece->failure = failure_;
  return ReadStep::kFailed;
}

bool ShardReader::may_open_now() {
  if (file_.origin == nullptr) return true;
  if (ahead_ == nullptr) ahead_ = file_.origin->open_ahead();
  if (ahead_ == nullptr) return false;
  std::uint8_t head[kContentBytes];
  const std::size_t wanted = std::min<std::uint64_t>(sizeof head, ahead_->size());
  const std::optional<Result<std::size_t>> got = ahead_->try_read_at(head, wanted, 0);
  return got && (!got->ok() || **got == wanted);
}

Status ShardReader::open() {
  const Compression compression = compression_of(options_.compression);
  Result<std::unique_ptr<ByteSource>> source =
      ahead_ != nullptr ? open_byte_source(std::move(ahead_), compression) : open_byte_source(file_, compression);
  if (!source.ok()) return source.status().with(here());
  source_ = std::move(*source);
  compression_ = source_->compression();
  if (!source_->remaining()) {
    HEADRACE_ASSIGN_OR_RETURN(scan_options_.max_length, stream_length_limit(options_));
  }
  phase_ = Phase::kFraming;
  if (start_.offset > 0) {
    const Status moved = seek();
    if (!moved.ok()) return moved.with(here());
  }
  next_block(block_bytes_);
  return {};
}

// A compressed shard is inflated from its beginning, or from the nearest point that its index has. Behind a damage that was
// passed over an index knows no place, and what is no local file has none.
Status ShardReader::seek() {
  const bool skips = options_.on_corrupt == OnCorrupt::kSkip;
  if (file_.origin != nullptr || skips || compression_ != Compression::kGzip || start_.offset < kWorthAnIndex) {
    return seek_to(source_.get(), start_.offset, skips);
  }
  const Result<std::optional<RecordIndex>> index = find_index(file_.path);
  if (!index.ok() || !index->has_value()) return source_->seek(start_.offset);
  return source_->seek_from((*index)->points, start_.offset);
}

bool ShardReader::fill(bool may_wait) {
  while (!source_ended_ && filled_ < target_) {
    std::uint8_t* to = block_->data + filled_;
    const std::size_t room = target_ - filled_;
    std::optional<Result<std::size_t>> n;
    if (may_wait) {
      n = source_->read(to, room);
    } else {
      n = source_->try_read(to, room);
      if (!n) return false;
    }
    if (!n->ok()) {
      source_failure_ = n->status();
      source_ended_ = true;
    } else {
      filled_ += **n;
      source_ended_ = **n == 0;
    }
  }
  if (source_->remaining() == 0U) source_ended_ = true;
  if (source_ended_ && !source_failure_.ok() && source_failure_.code() != StatusCode::kDataLoss) {
    // Nothing is wrong with the records: no policy skips this. Those that are whole come first.
    if (phase_ == Phase::kFraming) {
      const std::size_t before = block_->records.size();
      scanned_ = scan_records(block_->data, scanned_, filled_, scan_options_, &block_->records).next;
      ordinal_ += block_->records.size() - before;
    }
    fail(source_failure_.with(here()));
  }
  return true;
}

void ShardReader::frame() {
  const std::size_t before = block_->records.size();
  const Scan scan = scan_records(block_->data, scanned_, filled_, scan_options_, &block_->records);
  ordinal_ += block_->records.size() - before;
  scanned_ = scan.next;
  switch (scan.stop) {
    case ScanStop::kIncomplete:
      if (!source_ended_) return continue_record(scan);
      if (unframed() == 0 && source_failure_.ok()) return finish();
      return truncated(scan);
    case ScanStop::kBadHeader: {
      std::string text = at("corrupted");
      if (here().offset == 0) {
        text += " (Is this even a TFRecord file?)";
        const std::string content = describe_content({block_->data, std::min(filled_, kContentBytes)});
        if (!content.empty()) text += ": it looks like " + content;
      } else {
        text += ": the checksum of its length does not match";
      }
      return damaged(data_loss(text, here()), 0);
    }
    case ScanStop::kTooLong:
      return too_long(scan.length);
    case ScanStop::kBadPayload:
      return damaged(data_loss(at("corrupted") + ": the checksum of its data does not match", here()),
                     kFrameBytes + scan.length);
  }
}

void ShardReader::continue_record(const Scan& scan) {
  if (!scan.has_header) return next_block(block_bytes_);
  const std::uint64_t whole = kFrameBytes + scan.length;
  const std::optional<std::uint64_t> remaining = source_->remaining();
  if (remaining && whole > unframed() + *remaining) return truncated(scan);
  next_block(room_for(whole));
}

std::uint64_t ShardReader::room_for(std::uint64_t record_bytes) const {
  if (record_bytes < kLargeRecordBytes) return block_bytes_;
  const std::uint64_t whole = record_bytes + kHeaderBytes;  // the next header comes with the same read
  if (source_->remaining()) return whole;
  return std::min(whole, std::max<std::uint64_t>(kFirstGrowthBytes, 2 * unframed()));
}

void ShardReader::too_long(std::uint64_t length) {
  const std::optional<std::uint64_t> remaining = source_->remaining();
  if (length >= kImpossibleLength || (remaining && length > unframed() + *remaining)) {
    return truncated({.has_header = true, .length = length});
  }
  fail(
      {StatusCode::kResourceExhausted,
       "a record of " + std::to_string(length) + " bytes is over " + describe_limit(scan_options_.max_length, options_),
       here()});
}

void ShardReader::truncated(const Scan& scan) {
  std::string text = at("truncated");
  if (unframed() == 0) {
    text = source_failure_.message();  // all records before it are whole
  } else if (!source_failure_.ok()) {
    text += ": " + source_failure_.message();
  } else if (scan.has_header) {
    const std::uint64_t left = unframed() + source_->remaining().value_or(0);
    text += ": its length is " + std::to_string(scan.length) + " bytes, " +
            std::to_string(left - std::min<std::uint64_t>(left, kHeaderBytes)) +
            " bytes are left for data and checksum";
  } else {
    text += ": truncated header, " + std::to_string(unframed()) + " of " + std::to_string(kHeaderBytes) + " bytes";
  }
  damaged(data_loss(text, here()), 0);
}

void ShardReader::damaged(Status damage, std::uint64_t claimed_bytes) {
  if (options_.on_corrupt == OnCorrupt::kRaise || damage.code() != StatusCode::kDataLoss) return fail(damage);
  if (source_ == nullptr || block_ == nullptr) {  // damaged before the first block: nothing of it can be read
    damage_.push_back({std::move(damage)});
    return finish();
  }
  // A new block, so that the ordinals inside a block have no gap.
  if (!block_->records.empty()) next_block(std::max<std::uint64_t>(target_, unframed()));
  if (block_ == nullptr) return;
  damage_.push_back({std::move(damage)});
  ++ordinal_;
  if (!member_holds()) return recover();
  claimed_bytes_ = claimed_bytes;
  phase_ = Phase::kResyncing;
  if (claimed_bytes_ == 0) scanned_ += std::min<std::uint64_t>(1, unframed());
}

bool ShardReader::member_holds() {
  if (compression_ == Compression::kNone) return true;
  if (!source_failure_.ok()) return false;
  if (block_->stream_offset + scanned_ < source_->member_begin())
    return true;  // those before were checked to their ends
  const Result<bool> holds = source_->member_holds();
  return holds.ok() && *holds;
}

void ShardReader::recover() {
  scanned_ = filled_;
  const Result<bool> recovered = source_->recover();
  if (!recovered.ok()) return fail(recovered.status().with(here()));
  if (!*recovered) return finish();
  source_failure_ = Status();
  source_ended_ = false;
  claimed_bytes_ = 0;
  phase_ = Phase::kResyncing;
  next_block(block_bytes_);
}

void ShardReader::end_damage() { damage_.back().end = here().offset; }

void ShardReader::skip_claimed() {
  const std::uint64_t wanted = claimed_bytes_ + kHeaderBytes;
  if (!source_ended_ && unframed() < wanted) return next_block(std::max<std::uint64_t>(block_bytes_, wanted));
  const std::uint64_t claimed = std::exchange(claimed_bytes_, 0);
  const bool is_last = source_ended_ && unframed() == claimed;
  // Where bytes are missing in the middle of a record, what its header claims reaches into the next one.
  if (!is_last && (unframed() < wanted || !header_holds(block_->data + scanned_ + claimed))) {
    ++scanned_;
    return;
  }
  scanned_ += claimed;
  damage_.back().records = 1;
  end_damage();
  phase_ = Phase::kFraming;
}

void ShardReader::resync() {
  if (claimed_bytes_ > 0) return skip_claimed();
  for (; unframed() >= kFrameBytes; ++scanned_) {
    const std::uint8_t* header = block_->data + scanned_;
    if (!header_holds(header)) continue;
    const std::uint64_t length = load_u64(header);
    if (length > scan_options_.max_length) continue;
    const std::uint64_t whole = kFrameBytes + length;
    if (whole <= unframed()) {
      if (!payload_holds(header + kHeaderBytes, length)) continue;
      end_damage();
      phase_ = Phase::kFraming;
      return;
    }
    const std::optional<std::uint64_t> remaining = source_->remaining();
    if (!source_ended_ && (!remaining || whole <= unframed() + *remaining)) return next_block(room_for(whole));
  }
  if (!source_ended_) return next_block(block_bytes_);
  if (!source_failure_.ok()) return recover();
  scanned_ = filled_;
  end_damage();
  finish();
}

void ShardReader::next_block(std::uint64_t bytes) {
  const std::size_t tail = unframed();
  if (const std::optional<std::uint64_t> remaining = source_->remaining()) bytes = std::min(bytes, tail + *remaining);
  RecordBlock* next = blocks_->acquire(bytes);
  if (next == nullptr) {
    return fail(
        {StatusCode::kResourceExhausted, "no memory for a block of " + std::to_string(bytes) + " bytes", here()});
  }
  if (tail > 0) std::memcpy(next->data, block_->data + scanned_, tail);
  hand_over();
  next->shard = shard_;
  next->stream_offset = source_->position() - tail;
  block_ = next;
  filled_ = tail;
  target_ = bytes;
  scanned_ = 0;
}

void ShardReader::hand_over() {
  if (block_ == nullptr) return;
  RecordBlock* block = std::exchange(block_, nullptr);
  const std::size_t records = block->records.size();
  if (records == 0) return blocks_->discard(block);
  block->first_ordinal = ordinal_ - records;
  const RecordSpan& last = block->records.back();
  const std::size_t mean = (last.offset + last.length - block->records.front().offset) / records + kFrameBytes;
  block_bytes_ = std::clamp(kRecordsPerBlock * mean, kSmallestBlockBytes, kLargestBlockBytes);
  blocks_->publish(block);
  ready_ = block;
  ready_damage_ = std::exchange(damage_, {});
}

void ShardReader::finish() {
  hand_over();
  close_source();
  phase_ = Phase::kEnded;
}

void ShardReader::fail(Status failure) {
  failure_ = std::move(failure);
  hand_over();
  close_source();
  phase_ = Phase::kFailed;
}

void ShardReader::close_source() {
  file_position_ = file_position();
  inflate_cost_ = inflate_cost();
  inflate_cost_.memory_bytes = 0;
  source_.reset();
}

}  // namespace headrace

#include "record/record_locator.h"

#include <algorithm>

#include "base/wire.h"
#include "record/length_limit.h"

namespace headrace {
namespace {

// One located block: about as much data as a task of a ShardReader reads.
constexpr std::uint64_t kBlockBytes = 1 << 20;
constexpr std::size_t kBlockRecords = 128;
// The system is asked for so much at a time, and by then at least half of it lies ahead.
constexpr std::uint64_t kAskedBytes = 4 << 20;

}  // namespace

std::optional<File> open_located(const SourceContext& context, const SourceOptions& options, std::uint32_t shard) {
  const CompressionType compression = options.read.compression;
  const bool may_be_plain = compression == CompressionType::kAuto || compression == CompressionType::kNone;
  // Who skips damaged records must know of them before the order is decided.
  if (!options.late_reading || options.read.on_corrupt != OnCorrupt::kRaise || !may_be_plain) return std::nullopt;
  const ShardFile& listed = context.shards->files[shard];
  if (listed.origin != nullptr) return std::nullopt;
  Result<File> file = File::open(listed.path, listed.bytes);
  if (!file.ok() || !file->is_local()) return std::nullopt;
  // Whatever the options verify: the first header must hold, for it tells what kind of file this is.
  std::uint8_t header[kHeaderBytes];
  const Result<std::size_t> got = file->read_at(header, kHeaderBytes, 0);
  if (!got.ok() || *got < kHeaderBytes || !header_holds(header) || load_u64(header) < kLateBytes) return std::nullopt;
  return std::optional<File>(std::move(*file));
}

RecordLocator::RecordLocator(const SourceContext& context, const SourceOptions& options, std::uint32_t shard,
                             ShardPlace start)
    : context_(context),
      options_(options),
      shard_(shard),
      from_start_(start.offset == 0),
      place_(start),
      asked_ahead_(start.offset) {}

std::optional<ReadStep> RecordLocator::step(bool may_wait, ShardPiece* piece) {
  if (!file_) {
    std::optional<File> file = open_located(context_, options_, shard_);
    if (!file) return std::nullopt;
    file_.emplace(std::move(*file));
    if (context_.lengths != nullptr && from_start_) known_ = context_.lengths->find(shard_);
  }
  RecordBlock* block = nullptr;
  Look found = Look::kRecord;
  std::uint64_t bytes = 0;
  while (bytes < kBlockBytes && (block == nullptr || block->records.size() < kBlockRecords)) {
    ask_ahead();
    std::uint32_t length = 0;
    found = look(may_wait, &length);
    if (found != Look::kRecord) break;
    if (block == nullptr) {
      block = context_.blocks->acquire(0);
      if (block == nullptr) return std::nullopt;
      block->shard = shard_;
      block->first_ordinal = place_.ordinal;
      block->stream_offset = place_.offset;
    }
    block->records.push_back({static_cast<std::uint32_t>(bytes + kHeaderBytes), length});
    if (learns()) walked_.push_back(length);
    bytes += kFrameBytes + length;
    place_.offset += kFrameBytes + length;
    ++place_.ordinal;
  }
  if (block != nullptr) {
    context_.blocks->publish(block);
    piece->block = block;
    return ReadStep::kBlock;
  }
  if (found == Look::kWouldWait) return ReadStep::kWouldWait;
  if (found == Look::kNotMine) return std::nullopt;
  if (learns()) context_.lengths->keep(shard_, std::move(walked_));
  return ReadStep::kEnd;
}

RecordLocator::Look RecordLocator::look(bool may_wait, std::uint32_t* length) {
  if (known_ != nullptr && place_.ordinal < known_->size()) {
    *length = (*known_)[place_.ordinal];
    return Look::kRecord;
  }
  if (place_.offset == file_->size()) return Look::kEnd;
  std::uint8_t header[kHeaderBytes];
  Result<std::size_t> got = std::size_t{0};
  if (may_wait) {
    got = file_->read_at(header, kHeaderBytes, place_.offset);
  } else {
    std::optional<Result<std::size_t>> tried = file_->try_read_at(header, kHeaderBytes, place_.offset);
    if (!tried) return Look::kWouldWait;
    got = std::move(*tried);
  }
  if (!got.ok() || *got < kHeaderBytes) return may_wait ? Look::kNotMine : Look::kWouldWait;
  const std::uint64_t size = load_u64(header);
  const bool holds = (options_.read.verify == Verify::kOff && size > 0) || header_holds(header);
  const std::uint64_t left = file_->size() - place_.offset;
  if (!holds || size > length_limit(options_.read) || size > left || size + kFrameBytes > left) return Look::kNotMine;
  *length = static_cast<std::uint32_t>(size);
  return Look::kRecord;
}

void RecordLocator::ask_ahead() {
  if (asked_ahead_ >= file_->size() || asked_ahead_ > place_.offset + kAskedBytes / 2) return;
  asked_ahead_ = std::max(asked_ahead_, place_.offset);
  file_->will_need(asked_ahead_, kAskedBytes);
  asked_ahead_ += kAskedBytes;
}

}  // namespace headrace

#include "record/piece_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "record/framing.h"
#include "record/length_limit.h"
#include "record/shard_reader.h"

namespace headrace {
namespace {

Status no_memory(std::uint64_t bytes) {
  return {StatusCode::kResourceExhausted, "no memory for records of " + std::to_string(bytes) + " bytes"};
}

}  // namespace

RecordRun PieceContent::find(std::uint64_t ordinal) const {
  for (RecordBlock* block : blocks) {
    const std::uint64_t index = ordinal - block->first_ordinal;  // wraps where it stands before the block
    if (index < block->records.size()) return {block, static_cast<std::uint32_t>(index), 1};
  }
  return {nullptr, 0, 1};
}

bool PieceReader::read(const Piece& piece, bool may_wait, PieceContent* content) const {
  const auto fail = [&](const Status& failure) {
    content->failure = failure.with({.path = context_.shards->files[piece.shard].path,
                                     .record = static_cast<std::int64_t>(piece.first.ordinal),
                                     .offset = static_cast<std::int64_t>(piece.first.offset)});
    return true;
  };
  const Result<std::shared_ptr<const File>> file = context_.loader->open(piece.shard);
  if (!file.ok()) return fail(file.status());
  if (!piece.lengths.empty()) return locate(piece, **file, content);
  RecordBlock* const block = context_.blocks->acquire(piece.bytes);
  if (block == nullptr) return fail(no_memory(piece.bytes));
  std::size_t filled = 0;
  if (!may_wait) {
    const std::optional<Result<std::size_t>> tried = (*file)->try_read_at(block->data, piece.bytes, piece.first.offset);
    if (tried && tried->ok()) filled = **tried;
    if (filled < piece.bytes) {
      context_.blocks->discard(block);
      return false;
    }
  } else {
    const Result<std::size_t> got = (*file)->read_at(block->data, piece.bytes, piece.first.offset);
    if (!got.ok()) {
      context_.blocks->discard(block);
      return fail(got.status());
    }
    filled = *got;
  }
  // After a jump the first header is checked whatever the options say.
  const bool starts = filled == piece.bytes && header_holds(block->data);
  if (starts) {
    block->records.reserve(piece.records);
    const ScanOptions scan_options = {.verify = options_.verify, .max_length = length_limit(options_)};
    const Scan scan = scan_records(block->data, 0, filled, scan_options, &block->records);
    if (scan.next == piece.bytes && block->records.size() == piece.records) {
      block->shard = piece.shard;
      block->first_ordinal = piece.first.ordinal;
      block->stream_offset = piece.first.offset;
      context_.blocks->publish(block);
      content->blocks.push_back(block);
      return true;
    }
  }
  context_.blocks->discard(block);
  if (!may_wait) return false;  // reading it again may wait
  read_again(piece, content);
  return true;
}

bool PieceReader::locate(const Piece& piece, const File& file, PieceContent* content) const {
  RecordBlock* const block = context_.blocks->acquire(0);
  if (block == nullptr) {
    content->failure = no_memory(sizeof(RecordBlock));
    return true;
  }
  block->shard = piece.shard;
  block->first_ordinal = piece.first.ordinal;
  block->stream_offset = piece.first.offset;
  std::uint64_t offset = 0;
  for (const std::uint32_t length : piece.lengths) {
    block->records.push_back({static_cast<std::uint32_t>(offset + kHeaderBytes), length});
    offset += kFrameBytes + length;
  }
  context_.blocks->publish(block);
  content->blocks.push_back(block);
  ask_ahead(piece, file);
  return true;
}

// Asking for what is in the system's cache already costs half as much as reading it, so only some pieces are looked at.
void PieceReader::ask_ahead(const Piece& piece, const File& file) const {
  constexpr std::uint32_t kLookedAt = 16;  // every so many of them
  if (located_.fetch_add(1, std::memory_order_relaxed) % kLookedAt == 0) {
    std::uint8_t byte = 0;
    const std::uint64_t middle = piece.first.offset + piece.bytes / 2;  // its ends are on pages of its neighbours, too
    is_cached_.store(file.try_read_at(&byte, 1, middle).has_value(), std::memory_order_relaxed);
  }
  if (!is_cached_.load(std::memory_order_relaxed)) file.will_need(piece.first.offset, piece.bytes);
}

void PieceReader::read_again(const Piece& piece, PieceContent* content) const {
  const std::uint64_t end_ordinal = piece.first.ordinal + piece.records;
  const std::uint64_t end_offset = piece.first.offset + piece.bytes;
  ReadOptions options = options_;
  options.compression = CompressionType::kNone;
  ShardReader reader(context_.blocks, context_.shards->files[piece.shard], piece.shard, options, piece.first);
  std::uint64_t reached = piece.first.offset;
  for (;;) {
    ShardPiece part;
    const ReadStep step = reader.step(true, &part);
    for (SkippedRegion& region : part.damage) {
      if (static_cast<std::uint64_t>(region.reason.where().offset) >= end_offset) continue;
      region.end = std::min(region.end, static_cast<std::int64_t>(end_offset));
      content->damage.push_back(std::move(region));
    }
    if (step == ReadStep::kFailed) content->failure = misplaced(piece, part.failure);
    if (step != ReadStep::kBlock) break;
    RecordBlock* const block = part.block;
    const auto records = static_cast<std::uint32_t>(block->records.size());
    std::uint32_t ours = 0;
    while (ours < records && block->header_offset(ours) < end_offset && block->first_ordinal + ours < end_ordinal) {
      ++ours;
    }
    if (ours > 0) {
      content->blocks.push_back(block);
      const RecordSpan& last = block->records[ours - 1];
      reached = block->stream_offset + last.offset + last.length + kFooterBytes;
    }
    if (ours < records) {
      const RecordRun behind{block, ours, records - ours};
      context_.blocks->release({&behind, 1});
      if (ours > 0) block->records.resize(ours);  // nobody else has seen the block
      break;
    }
    if (reached >= end_offset) break;
  }
  std::uint64_t found = 0;
  for (const RecordBlock* block : content->blocks) found += block->records.size();
  const bool fits = reached == end_offset && found >= piece.records;
  if (!content->failure.ok() || !content->damage.empty() || fits) return;
  content->failure = misplaced(piece, data_loss("the records between " + std::to_string(piece.first.offset) + " and " +
                                                std::to_string(end_offset) + " are others than"));
}

// A failure of the record that was jumped to may be the index's as well as the shard's.
Status PieceReader::misplaced(const Piece& piece, const Status& failure) const {
  const Where where{.path = context_.shards->files[piece.shard].path,
                    .record = static_cast<std::int64_t>(piece.first.ordinal),
                    .offset = static_cast<std::int64_t>(piece.first.offset)};
  const bool is_of_jump = failure.where().offset < 0 || failure.where().offset == where.offset;
  if (!is_of_jump || failure.code() != StatusCode::kDataLoss) return failure.with(where);
  const std::string joint = failure.where().offset < 0 ? " " : "; a record should begin here by ";
  return data_loss(failure.message() + joint + *piece.index_name, failure.where()).with(where);
}

}  // namespace headrace

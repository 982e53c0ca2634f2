// ShardReader: one shard, from its bytes to published blocks of framed and checked records.
//
// It reads a block's worth of bytes, frames and checks them while they are in the cache, and hands the block over. What is
// left of an unfinished record is copied to the next block. A record of 16 KiB and more that does not end inside its block
// gets a block of its own, into which the rest of it is read directly, together with the header behind it.
//
// One caller at a time (a task, or a thread that reads alone). Outcomes of step(): a block that belongs to the caller; "would
// wait" = nothing was lost, call again with may_wait where waiting for a disk is allowed; end; failure. Both of the last
// are repeated by later calls. With OnCorrupt::kSkip each piece lists the damages that stand before it in the shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/skipped.h"
#include "record/block.h"
#include "record/framing.h"
#include "record/shard_part.h"
#include "shard/byte_source.h"

namespace headrace {

enum class ReadStep : std::uint8_t { kBlock = 1, kWouldWait, kEnd, kFailed };

struct ShardPiece {
  RecordBlock* block = nullptr;       ///< with kBlock; published
  std::vector<SkippedRegion> damage;  ///< what was skipped before the block, or before the end
  Status failure;                     ///< with kFailed
};

class ShardReader {
 public:
  ShardReader(BlockPool* blocks, ShardFile file, std::uint32_t shard, const ReadOptions& options, ShardPlace start);
  ShardReader(const ShardReader&) = delete;
  ShardReader& operator=(const ShardReader&) = delete;
  ~ShardReader();

  ReadStep step(bool may_wait, ShardPiece* piece);
  /// Bytes of the file that were read, compressed or not.
  std::uint64_t file_position() const { return source_ != nullptr ? source_->file_position() : file_position_; }
  /// What inflating cost up to now.
  InflateCost inflate_cost() const { return source_ != nullptr ? source_->inflate_cost() : inflate_cost_; }
  /// How the file is compressed; kAuto before the first step().
  Compression compression() const { return compression_; }

 private:
  enum class Phase : std::uint8_t {
    kClosed = 1,  // not yet opened
    kFraming,     // the next byte is the first of a record
    kResyncing,   // looking for the next record whose two checksums hold
    kEnded,
    kFailed,
  };

  /// False: it would have to wait.
  bool may_open_now();
  Status open();
  Status seek();
  bool fill(bool may_wait);
  void frame();
  void continue_record(const Scan& scan);
  void resync();
  void too_long(std::uint64_t length);
  void truncated(const Scan& scan);
  /// The bytes not yet framed move to a new block with room for `bytes`; the records framed so far become ready_.
  void next_block(std::uint64_t bytes);
  std::uint64_t room_for(std::uint64_t record_bytes) const;
  void hand_over();
  void finish();
  void fail(Status failure);
  /// A damage of the record at scanned_: skipped or fatal, as the options say. `claimed_bytes`: of the whole record, by a
  /// header that holds; 0 = not known.
  void damaged(Status damage, std::uint64_t claimed_bytes);
  /// Goes on behind a damaged record, if its header is right about where that is.
  void skip_claimed();
  /// Whether the bytes around scanned_ are what was written, so that the damage was there before they were compressed. What a
  /// damaged member still gives is not to be trusted: its references make copies of other records, checksums included.
  bool member_holds();
  /// Goes on behind the damaged member, at the next one that inflates, or ends.
  void recover();
  /// The damage that was found last ends at scanned_.
  void end_damage();
  void close_source();
  Where here() const;
  std::string at(const char* what) const;
  std::uint64_t unframed() const { return filled_ - scanned_; }

  // constant after construction
  BlockPool* const blocks_;
  const ShardFile file_;
  const std::uint32_t shard_;
  const ReadOptions options_;
  const ShardPlace start_;

  std::unique_ptr<StoredFile> ahead_;  // opened, not yet looked into
  ScanOptions scan_options_;           // constant once the source is open
  std::unique_ptr<ByteSource> source_;
  Phase phase_ = Phase::kClosed;
  std::uint64_t ordinal_;         // of the record at scanned_
  RecordBlock* block_ = nullptr;  // being filled
  std::size_t filled_ = 0;        // bytes in it
  std::size_t target_ = 0;        // bytes it is to get
  std::size_t scanned_ = 0;       // bytes of it that are framed or passed over
  std::size_t block_bytes_;       // size of a block of small records
  bool source_ended_ = false;
  Status source_failure_;            // what ended the source, if not its end
  std::uint64_t claimed_bytes_ = 0;  // of the damaged record at scanned_; see damaged()
  Compression compression_ = Compression::kAuto;
  std::uint64_t file_position_ = 0;          // once the source is closed
  InflateCost inflate_cost_;                 // the same
  RecordBlock* ready_ = nullptr;             // published, to be handed out by this step
  std::vector<SkippedRegion> ready_damage_;  // stands before ready_
  std::vector<SkippedRegion> damage_;        // stands behind ready_
  Status failure_;
};

}  // namespace headrace

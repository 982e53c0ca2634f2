// RecordBlock and RecordRun: how records travel from the readers to the parser without being touched one by one.
//
// A block holds the bytes of whole records that stand one behind the other in one shard; a large record has a block of its
// own. A located block has no bytes, only places: its records are read by a RecordLoader when they are parsed
// (docs/design/late_reading.md). A run names neighbouring records of one block in 16 bytes. Blocks come from a BlockPool and
// go back to it when every record of theirs was released: plain counts under the pool's mutex, which is taken once per call,
// never per record.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/mutex.h"

namespace headrace {

/// Payload of one record inside its block; the 12-byte header stands before it and the 4-byte footer behind it in the shard.
struct RecordSpan {
  std::uint32_t offset;
  std::uint32_t length;
};

/// Readable bytes behind the last payload byte of every block, for SIMD loads. Their content is arbitrary.
constexpr std::size_t kBlockPadding = 64;

struct RecordBlock {
  // constant once the block is filled
  std::uint8_t* data = nullptr;  ///< `capacity` + kBlockPadding bytes; null in a located block
  std::size_t capacity = 0;
  std::uint32_t shard = 0;          ///< index in the shard list
  std::uint64_t first_ordinal = 0;  ///< ordinal in the shard of records[0]; the others follow without gap
  std::uint64_t stream_offset = 0;  ///< place of data[0] in the uncompressed stream of the shard
  std::vector<RecordSpan> records;

  // guarded by the pool's mutex
  std::uint32_t live = 0;  ///< records not yet released
  std::uint32_t held = 0;  ///< of these, records that a consumer's batch holds; see RecordPin

  bool located() const { return data == nullptr; }
  /// Of a located block: no data, but the size.
  std::span<const std::uint8_t> payload(std::uint32_t index) const {
    return {located() ? nullptr : data + records[index].offset, records[index].length};
  }
  /// Offset of the record's header in the uncompressed stream.
  std::uint64_t header_offset(std::uint32_t index) const { return stream_offset + records[index].offset - 12; }
};

struct RecordRun {
  RecordBlock* block;
  std::uint32_t first;  ///< index in block->records
  std::uint32_t count;  ///< >= 1
};
static_assert(sizeof(RecordRun) == 16);

/// Identity of a record: enough to find, name and read it again.
struct RecordId {
  std::uint32_t shard = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t offset = 0;  ///< of the header in the uncompressed stream
};

inline RecordId record_id(const RecordRun& run, std::uint32_t index_in_run = 0) {
  const std::uint32_t index = run.first + index_in_run;
  return {run.block->shard, run.block->first_ordinal + index, run.block->header_offset(index)};
}

/// Records that stay readable while columns point into them. The last reference, dropped on any thread, also when the pool is
/// gone, releases them.
class RecordPin {
 public:
  virtual ~RecordPin() = default;
  /// Takes the release of more records over, before the batch is handed over.
  virtual void add(std::span<const RecordRun> runs) = 0;
  /// The batch goes to the consumer: blocks of which nothing but held records is left count as bytes_held() from now on, not
  /// as bytes_in_use(), which budgets look at. Once.
  virtual void hand_over() = 0;
};

/// Recycles blocks by size class (steps of a quarter of a power of two). All calls may be concurrent. Must outlive its
/// blocks, except for pinned records.
class BlockPool {
 public:
  BlockPool();
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// An empty block with room for `bytes` (0: a located block); null only when the system has no memory.
  RecordBlock* acquire(std::size_t bytes);
  /// After filling: every record is live. Blocks without records go straight back.
  void publish(RecordBlock* block);
  /// Gives records back; a block whose last record is released is recycled.
  void release(std::span<const RecordRun> runs);
  /// Takes the release of `runs` over.
  std::shared_ptr<RecordPin> pin(std::vector<RecordRun> runs);
  /// Gives a block back that was never published.
  void discard(RecordBlock* block);

  /// Read-ahead is begun, and free blocks are kept, only while all blocks are below `bytes`; what is needed at once is granted
  /// beyond it, and free ones go at once where they are too many. 0 = no limit, as in the beginning.
  void set_budget(std::int64_t bytes);
  std::int64_t budget() const;
  /// Whether read-ahead may begin.
  bool has_room() const;
  /// Bytes of the largest block so far.
  std::int64_t largest_bytes() const;
  /// The most by which count_beside() has raised what is in use.
  std::int64_t largest_beside() const;
  /// From now on what is given back stays where it is, until the pool and its pins end: for a stream that ended in the middle of a
  /// step, where a record may be counted twice or not at all.
  void stop_recycling();

  /// Memory that reading takes beside the blocks counts as in use, too: so much more, or less.
  void count_beside(std::int64_t bytes);

  /// Bytes of the blocks that are out, of those that only consumers hold, and of those on the free lists.
  std::int64_t bytes_in_use() const;
  std::int64_t bytes_held() const;
  std::int64_t bytes_free() const;

 private:
  struct State;
  class Pin;
  std::shared_ptr<State> state_;
};

}  // namespace headrace

// RecordMap: where every record of a data set is, from the indexes, cut into pieces that are read at once.
//
// Records and pieces are numbered through all parts in their order. A piece is one record, or neighbouring records of one
// shard that fill about `piece_bytes`; of these only where they begin is kept, not each of their records. Where records are
// large enough to be read late, their lengths are kept, so that a piece is located without reading anything.
// Constant after construction; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/index.h"
#include "record/shard_part.h"

namespace headrace {

struct Piece {
  std::uint32_t shard = 0;
  ShardPlace first;
  std::uint64_t number = 0;                ///< of its first record in the data set
  std::uint32_t records = 0;               ///< >= 1
  std::uint64_t bytes = 0;                 ///< headers and checksums included
  std::span<const std::uint32_t> lengths;  ///< of its records, where they are only located; else empty
  const std::string* index_name = nullptr;
};

class RecordMap {
 public:
  /// `indexes[i]` is that of the shard of `parts[i]`. `piece_bytes`: 0 = every record is a piece. Shards whose records have
  /// `late_bytes` and more on average are located; nothing: none.
  RecordMap(const ShardParts& parts, const std::vector<RecordIndex>& indexes, std::uint64_t piece_bytes,
            std::optional<std::uint64_t> late_bytes);

  std::uint64_t records() const { return records_; }
  std::uint64_t pieces() const { return pieces_; }
  Piece piece(std::uint64_t number) const;
  /// The piece that holds record `number`.
  std::uint64_t piece_of(std::uint64_t number) const;
  /// Of the map itself.
  std::uint64_t memory_bytes() const;

 private:
  struct Part {
    std::uint32_t shard;
    std::uint64_t first_ordinal;
    std::uint64_t first_number;
    std::uint64_t first_piece;
    std::vector<std::uint64_t> offsets;  // where the pieces begin in the shard, and where the last one ends
    std::vector<std::uint32_t> starts;   // records before each piece, and all of them; empty where each is one record
    std::vector<std::uint32_t> lengths;  // where records are located
    std::string index_name;
  };

  void add(const ShardPart& of, const RecordIndex& index, std::uint64_t piece_bytes,
           std::optional<std::uint64_t> late_bytes);

  std::vector<Part> parts_;  // none without records
  std::uint64_t records_ = 0;
  std::uint64_t pieces_ = 0;
};

}  // namespace headrace

#include "record/record_map.h"

#include <algorithm>

#include "record/framing.h"
#include "record/shard_indexes.h"

namespace headrace {

RecordMap::RecordMap(const ShardParts& parts, const std::vector<RecordIndex>& indexes, std::uint64_t piece_bytes,
                     std::optional<std::uint64_t> late_bytes) {
  for (std::size_t i = 0; i < parts.size(); ++i) add(parts[i], indexes[i], piece_bytes, late_bytes);
}

void RecordMap::add(const ShardPart& of, const RecordIndex& index, std::uint64_t piece_bytes,
                    std::optional<std::uint64_t> late_bytes) {
  const std::uint64_t end = std::min<std::uint64_t>(of.end_ordinal, index.lengths.size());
  if (of.first.ordinal >= end) return;
  const std::span<const std::uint32_t> lengths =
      std::span(index.lengths).subspan(of.first.ordinal, end - of.first.ordinal);
  Part part{.shard = of.shard,
            .first_ordinal = of.first.ordinal,
            .first_number = records_,
            .first_piece = pieces_,
            .index_name = index_name(index)};
  std::uint64_t offset = of.first.offset;
  std::uint64_t piece_begin = offset;
  part.offsets.push_back(offset);
  if (piece_bytes > 0) part.starts.push_back(0);
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    const std::uint64_t bytes = kFrameBytes + lengths[i];
    const bool ends = piece_bytes == 0 || offset + bytes - piece_begin > piece_bytes;
    if (i > 0 && ends) {
      piece_begin = offset;
      part.offsets.push_back(offset);
      if (piece_bytes > 0) part.starts.push_back(i);
    }
    offset += bytes;
  }
  const std::uint64_t pieces = part.offsets.size();
  part.offsets.push_back(offset);
  if (piece_bytes > 0) part.starts.push_back(static_cast<std::uint32_t>(lengths.size()));
  if (late_bytes && offset - of.first.offset >= *late_bytes * lengths.size())
    part.lengths.assign(lengths.begin(), lengths.end());
  part.offsets.shrink_to_fit();
  part.starts.shrink_to_fit();
  records_ += lengths.size();
  pieces_ += pieces;
  parts_.push_back(std::move(part));
}

Piece RecordMap::piece(std::uint64_t number) const {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), number,
                       [](std::uint64_t wanted, const Part& part) { return wanted < part.first_piece; });
  const Part& part = *(behind - 1);
  const std::uint64_t i = number - part.first_piece;
  const std::uint64_t start = part.starts.empty() ? i : part.starts[i];
  const std::uint64_t end = part.starts.empty() ? i + 1 : part.starts[i + 1];
  Piece piece{.shard = part.shard,
              .first = {.ordinal = part.first_ordinal + start, .offset = part.offsets[i]},
              .number = part.first_number + start,
              .records = static_cast<std::uint32_t>(end - start),
              .bytes = part.offsets[i + 1] - part.offsets[i],
              .index_name = &part.index_name};
  if (!part.lengths.empty()) piece.lengths = std::span(part.lengths).subspan(start, end - start);
  return piece;
}

std::uint64_t RecordMap::piece_of(std::uint64_t number) const {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), number,
                       [](std::uint64_t wanted, const Part& part) { return wanted < part.first_number; });
  const Part& part = *(behind - 1);
  const std::uint64_t start = number - part.first_number;
  if (part.starts.empty()) return part.first_piece + start;
  const auto next = std::upper_bound(part.starts.begin(), part.starts.end(), start);
  return part.first_piece + static_cast<std::uint64_t>(next - part.starts.begin()) - 1;
}

std::uint64_t RecordMap::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Part& part : parts_) {
    bytes += part.offsets.size() * sizeof(std::uint64_t);
    bytes += (part.starts.size() + part.lengths.size()) * sizeof(std::uint32_t);
  }
  return bytes;
}

}  // namespace headrace

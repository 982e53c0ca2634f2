#include "pipeline/assignment.h"

#include <algorithm>
#include <utility>

#include "record/framing.h"

namespace headrace {
namespace {

// The shard() that says what is read, not what of it is left out.
const ShardOp* find_source_share(const std::shared_ptr<const Op>& last) {
  for (const Op* op : ops_in_order(last)) {
    const auto* shard = std::get_if<ShardOp>(&op->arguments);
    if (shard != nullptr && shard->options.by != ShardBy::kRecord) return shard;
  }
  return nullptr;
}

std::uint64_t records_of(const RecordIndex& index) { return index.lengths.size(); }

// Records [begin, end) of all shards, as parts of them.
Assignment cut_range(std::vector<RecordIndex> indexes, std::uint64_t begin, std::uint64_t end) {
  Assignment assignment{.records = static_cast<std::int64_t>(end - begin)};
  std::uint64_t first = 0;  // number of the first record of the shard
  for (std::uint32_t shard = 0; shard < indexes.size(); ++shard) {
    const std::uint64_t records = records_of(indexes[shard]);
    if (first < end && begin < first + records) {
      ShardPart part{.shard = shard, .end_ordinal = std::min(records, end - first)};
      part.first.ordinal = begin > first ? begin - first : 0;
      for (std::uint64_t i = 0; i < part.first.ordinal; ++i) {
        part.first.offset += kFrameBytes + indexes[shard].lengths[i];
      }
      assignment.parts.push_back(part);
      assignment.indexes.push_back(std::move(indexes[shard]));
    }
    first += records;
  }
  return assignment;
}

// As many records as the worker with the fewest has: what is over is left out of the last files.
void cut_to_fewest(const ShardOp& share, const std::vector<RecordIndex>& all, Assignment* assignment) {
  // Of more workers than files, some have nothing.
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(share.num_shards), all.size() + 1);
  std::vector<std::uint64_t> records(workers);
  for (std::size_t shard = 0; shard < all.size(); ++shard) records[shard % workers] += records_of(all[shard]);
  std::uint64_t left = *std::min_element(records.begin(), records.end());
  assignment->records = static_cast<std::int64_t>(left);
  for (ShardPart& part : assignment->parts) {
    part.end_ordinal = std::min(left, records_of(all[part.shard]));
    left -= part.end_ordinal;
  }
  std::erase_if(assignment->parts, [](const ShardPart& part) { return part.end_ordinal == 0; });
}

// All, or those of this worker's files.
std::vector<std::uint32_t> deciding_shards(const std::shared_ptr<const Op>& last, const ShardList& shards) {
  const ShardOp* share = find_source_share(last);
  const bool own_files = share != nullptr && share->options.by == ShardBy::kFile && !share->options.drop_remainder;
  const std::size_t step = own_files ? static_cast<std::size_t>(share->num_shards) : 1;
  std::vector<std::uint32_t> wanted;
  for (std::size_t shard = own_files ? static_cast<std::size_t>(share->index) : 0; shard < shards.files.size();
       shard += step) {
    wanted.push_back(static_cast<std::uint32_t>(shard));
  }
  return wanted;
}

}  // namespace

std::string needs_indexes(const std::shared_ptr<const Op>& last, bool records_are_known) {
  if (reads_whole_files(last)) return {};
  for (const Op* op : ops_in_order(last)) {
    const auto* shuffle = std::get_if<ShuffleOp>(&op->arguments);
    if (shuffle != nullptr && shuffle->options.global) return "shuffle(\"global\")";
    const auto* shard = std::get_if<ShardOp>(&op->arguments);
    if (shard == nullptr) continue;
    if (shard->options.by == ShardBy::kRange) return "shard(by=\"range\")";
    const bool counts = shard->options.by == ShardBy::kFile || !records_are_known;
    if (shard->options.drop_remainder && counts) return "shard(drop_remainder=True)";
  }
  return {};
}

std::vector<std::uint32_t> shards_to_index(const std::shared_ptr<const Op>& last, const ShardList& shards) {
  return reads_whole_files(last) ? std::vector<std::uint32_t>() : deciding_shards(last, shards);
}

Assignment assign(const std::shared_ptr<const Op>& last, const ShardList& shards, std::vector<RecordIndex> indexes) {
  const ShardOp* share = find_source_share(last);
  const std::vector<std::uint32_t> indexed = deciding_shards(last, shards);
  std::uint64_t records = 0;
  for (const RecordIndex& index : indexes) records += records_of(index);
  if (share != nullptr && share->options.by == ShardBy::kRange) {
    const auto workers = static_cast<std::uint64_t>(share->num_shards);
    const auto worker = static_cast<std::uint64_t>(share->index);
    const std::uint64_t each = records / workers;
    // Those that are over go to the first workers, one each.
    const std::uint64_t over = share->options.drop_remainder ? 0 : records % workers;
    const std::uint64_t begin = worker * each + std::min(worker, over);
    return cut_range(std::move(indexes), begin, begin + each + (worker < over ? 1 : 0));
  }
  Assignment assignment;
  if (!indexes.empty() || indexed.empty()) assignment.records = static_cast<std::int64_t>(records);
  const bool has_all = share != nullptr && share->options.by == ShardBy::kFile && share->options.drop_remainder;
  for (std::size_t i = 0; i < indexed.size(); ++i) {
    const bool is_own =
        !has_all || i % static_cast<std::size_t>(share->num_shards) == static_cast<std::size_t>(share->index);
    if (is_own) assignment.parts.push_back({.shard = indexed[i]});
  }
  if (has_all) cut_to_fewest(*share, indexes, &assignment);
  if (reads_whole_files(last)) assignment.records = std::ssize(assignment.parts);
  if (!indexes.empty()) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < indexed.size() && next < assignment.parts.size(); ++i) {
      if (assignment.parts[next].shard != indexed[i]) continue;
      assignment.indexes.push_back(std::move(indexes[i]));
      ++next;
    }
  }
  return assignment;
}

}  // namespace headrace

// Reads single records again, for buffers that are restored: shard by shard in order of offset, so that a compressed shard
// is inflated once, or from the seek points of its index.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/wire.h"
#include "headrace/index.h"
#include "record/framing.h"
#include "record/length_limit.h"
#include "record/record_locator.h"
#include "record/source.h"
#include "shard/byte_source.h"

namespace headrace {
namespace {

class ShardFetcher : public RecordFetcher {
 public:
  ShardFetcher(const SourceContext& context, const SourceOptions& options) : context_(context), options_(options) {}

  Status fetch(std::span<const RecordId> ids, std::vector<RecordRun>* runs) override {
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&ids](std::size_t a, std::size_t b) {
      return ids[a].shard != ids[b].shard ? ids[a].shard < ids[b].shard : ids[a].offset < ids[b].offset;
    });
    std::vector<RecordRun> found(ids.size(), RecordRun{nullptr, 0, 1});
    Status read = read_all(ids, order, &found);
    if (!read.ok()) {
      std::erase_if(found, [](const RecordRun& run) { return run.block == nullptr; });
      if (!found.empty()) context_.blocks->release(found);
      return read;
    }
    runs->insert(runs->end(), found.begin(), found.end());
    return {};
  }

 private:
  Status read_all(std::span<const RecordId> ids, const std::vector<std::size_t>& order, std::vector<RecordRun>* found) {
    std::unique_ptr<ByteSource> source;
    std::vector<SeekPoint> points;
    bool located = false;
    const bool skips = options_.read.on_corrupt == OnCorrupt::kSkip;  // behind a damage an index knows no place
    for (std::size_t i = 0; i < order.size(); ++i) {
      const RecordId& id = ids[order[i]];
      if (id.shard >= context_.shards->files.size()) {
        return invalid_argument("the saved position names shard " + std::to_string(id.shard) + " of " +
                                std::to_string(context_.shards->files.size()));
      }
      const ShardFile& listed = context_.shards->files[id.shard];
      const Where where{.path = listed.path,
                        .record = static_cast<std::int64_t>(id.ordinal),
                        .offset = static_cast<std::int64_t>(id.offset)};
      if (options_.record != RecordKind::kFramed) {
        HEADRACE_ASSIGN_OR_RETURN((*found)[order[i]].block,
                                  read_file_record(context_.blocks, listed, id.shard, options_.record, options_.read));
        continue;
      }
      if (i == 0 || ids[order[i - 1]].shard != id.shard) {
        located = open_located(context_, options_, id.shard).has_value();
        auto opened = open_byte_source(listed, static_cast<Compression>(options_.read.compression));
        if (!opened.ok()) return opened.status().with(where);
        source = std::move(*opened);
        points.clear();
        if (listed.origin == nullptr && source->compression() == Compression::kGzip && !skips) {
          Result<std::optional<RecordIndex>> index = find_index(where.path);
          if (index.ok() && *index) points = std::move((*index)->points);
        }
      }
      Status moved = skips ? seek_to(source.get(), id.offset, true) : source->seek_from(points, id.offset);
      if (!moved.ok()) return moved.with(where);
      Result<RecordBlock*> block = read_one(source.get(), id, located);
      if (!block.ok()) return block.status().with(where);
      (*found)[order[i]].block = *block;
    }
    return {};
  }

  // A block of its own for each record: a restored buffer pins no more than what it holds. `source` is at it. `located`: its header will do.
  Result<RecordBlock*> read_one(ByteSource* source, const RecordId& id, bool located) {
    std::uint8_t header[kHeaderBytes];
    HEADRACE_RETURN_IF_ERROR(read_whole(source, header, kHeaderBytes));
    const std::uint64_t length = load_u64(header);
    const bool holds = options_.read.verify == Verify::kOff || header_holds(header);
    const std::optional<std::uint64_t> remaining = source->remaining();
    std::uint64_t most = length_limit(options_.read);
    if (!remaining) {
      HEADRACE_ASSIGN_OR_RETURN(most, stream_length_limit(options_.read));
    }
    if (!holds || length > most || (remaining && length + kFooterBytes > *remaining)) return changed();
    const std::size_t whole = kFrameBytes + length;
    RecordBlock* block = context_.blocks->acquire(located ? 0 : whole);
    if (block == nullptr) {
      return Status(StatusCode::kResourceExhausted, "no memory for a record of " + std::to_string(length) + " bytes");
    }
    Status read;
    if (!located) {
      std::memcpy(block->data, header, kHeaderBytes);
      read = read_whole(source, block->data + kHeaderBytes, length + kFooterBytes);
      const bool verifies = options_.read.verify == Verify::kFull;
      if (read.ok() && verifies && !payload_holds(block->data + kHeaderBytes, length)) read = changed();
    }
    if (!read.ok()) {
      context_.blocks->discard(block);
      return read;
    }
    block->shard = id.shard;
    block->first_ordinal = id.ordinal;
    block->stream_offset = id.offset;
    block->records.push_back({kHeaderBytes, static_cast<std::uint32_t>(length)});
    context_.blocks->publish(block);
    return block;
  }

  static Status read_whole(ByteSource* source, std::uint8_t* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, source->read(data + done, size - done));
      if (n == 0) return changed();
      done += n;
    }
    return {};
  }

  static Status changed() {
    return data_loss("there is no whole record at a place of the saved position: the file was changed since");
  }

  const SourceContext context_;
  const SourceOptions options_;
};

}  // namespace

std::unique_ptr<RecordFetcher> make_fetcher(const SourceContext& context, const SourceOptions& options) {
  return std::make_unique<ShardFetcher>(context, options);
}

}  // namespace headrace

#include "pipeline/open_sources.h"

#include <algorithm>
#include <string>
#include <utility>

#include "batch/global_shuffle.h"
#include "pipeline/epoch_counter.h"
#include "pipeline/source_files.h"
#include "record/record_locator.h"
#include "shard/byte_source.h"

namespace headrace {
namespace {

// Files of one record are opened and read one by one, often small ones: so many wait for the disk at a time.
constexpr int kFilesAhead = 16;

template <class T>
const T* find_on(const std::vector<const Op*>& way) {
  for (const Op* op : way) {
    if (const T* found = std::get_if<T>(&op->arguments)) return found;
  }
  return nullptr;
}

// Records are looked into before they are parsed.
bool reads_records(const std::vector<const Op*>& way) {
  return find_on<FilterOp>(way) != nullptr || find_on<BucketOp>(way) != nullptr;
}

SourceOptions source_options(const SourceChain& chain) {
  SourceOptions options;
  options.read = source_of(chain).options;
  const bool whole_files = source_of(chain).whole_files;
  if (whole_files) {
    const bool is_parsed = find_on<ParseOp>(chain.way) != nullptr || reads_records(chain.way);
    options.record = is_parsed ? RecordKind::kFileExample : RecordKind::kFile;
    options.shards_ahead = kFilesAhead;
  }
  if (const auto* interleave = find_on<InterleaveOp>(chain.way)) {
    options.cycle_length = interleave->options.cycle_length;
    options.block_length = interleave->options.block_length;
  }
  // Without a shuffle, records are parsed while what was read is still in the cache.
  const bool shuffles = std::any_of(chain.way.begin(), chain.way.end(), [](const Op* op) {
    const auto* shuffle = std::get_if<ShuffleOp>(&op->arguments);
    return shuffle != nullptr && shuffle->options.buffer_size > 1;
  });
  options.late_reading = shuffles && !reads_records(chain.way) && !whole_files;
  return options;
}

std::shared_ptr<const RecordMap> make_map(const OpenSource& source, const ShuffleOp& shuffle, bool is_local) {
  // Who skips damaged records must know of them before.
  const bool is_late =
      is_local && !reads_records(source.chain.way) && source.options.read.on_corrupt == OnCorrupt::kRaise;
  return std::make_shared<RecordMap>(source.assignment.parts, source.assignment.indexes,
                                     shuffle.options.window_bytes ? kPieceBytes : 0,
                                     is_late ? std::optional(kLateBytes) : std::nullopt);
}

Status refuse_compressed(const OpenSource& source, const ShardList& shards) {
  for (std::size_t i = 0; i < source.assignment.parts.size(); ++i) {
    const ShardFile& file = shards.files[source.assignment.parts[i].shard];
    if (source.assignment.indexes[i].stream_bytes() == file.bytes) continue;
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> bytes,
                              open_byte_source(file, static_cast<Compression>(source.options.read.compression)));
    if (bytes->compression() == Compression::kNone) continue;
    return Status(StatusCode::kInvalidArgument,
                  std::string("shuffle(\"global\") reads each record where it lies, which a file compressed with ") +
                      compression_name(bytes->compression()) +
                      " does not allow; store it plain, or use shuffle(buffer_size)",
                  {.path = file.path});
  }
  return {};
}

// `shards`: of this source alone.
Status assign_records(const ShardList& shards, WarningLog* warnings, OpenSource* source) {
  const SourceChain& chain = source->chain;
  std::vector<RecordIndex> indexes;
  const std::string needed_by = needs_indexes(chain.last, chain.shared->source_records >= 0);
  if (!needed_by.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(indexes,
                              find_or_make_indexes(shards, shards_to_index(chain.last, shards), source->options.read,
                                                   {.needed_by = needed_by}, &chain.shared->indexes, warnings));
  }
  source->assignment = assign(chain.last, shards, std::move(indexes));
  chain.shared->learn(source->assignment.records);
  const auto* shuffle = find_op<ShuffleOp>(chain.last);
  if (shuffle == nullptr || !shuffle->options.global) return {};
  HEADRACE_RETURN_IF_ERROR(refuse_compressed(*source, shards));
  bool is_local = false;
  if (!source->assignment.parts.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const File first, File::open(shards.files[source->assignment.parts.front().shard].path));
    is_local = first.is_local();
  }
  source->map = make_map(*source, *shuffle, is_local);
  const auto* stated = find_op<CardinalityOp>(chain.last);
  if (stated != nullptr && source->options.read.on_corrupt == OnCorrupt::kRaise) {
    return compare_cardinality(stated->records, *source->assignment.records);
  }
  return {};
}

void add_chains(const std::shared_ptr<const Op>& last, const std::shared_ptr<Dataset::Shared>& shared,
                const std::vector<const Op*>& behind, std::vector<SourceChain>* chains) {
  std::vector<const Op*> way = ops_in_order(last);
  way.insert(way.end(), behind.begin(), behind.end());
  const auto* combine = std::get_if<CombineOp>(&way.front()->arguments);
  if (combine == nullptr) {
    chains->push_back({last, shared, std::move(way)});
    return;
  }
  for (const CombinedInput& input : combine->inputs) add_chains(input.last, input.shared, way, chains);
}

}  // namespace

const SourceOp& source_of(const SourceChain& chain) { return std::get<SourceOp>(chain.way.front()->arguments); }

std::vector<SourceChain> source_chains(const std::shared_ptr<const Op>& last,
                                       const std::shared_ptr<Dataset::Shared>& shared) {
  std::vector<SourceChain> chains;
  add_chains(last, shared, {}, &chains);
  return chains;
}

Result<std::vector<ShardList>> find_files(const std::vector<SourceChain>& chains) {
  std::vector<ShardList> all;
  Status failure;
  const auto far = std::count_if(chains.begin(), chains.end(),
                                 [](const SourceChain& chain) { return !reads_local_files(source_of(chain)); });
  for (const SourceChain& chain : chains) {
    Result<ShardList> found = find_source_files(source_of(chain), std::max<std::int64_t>(far, 1));
    if (found.ok()) {
      all.push_back(std::move(*found));
    } else if (failure.ok()) {
      failure = found.status();
    } else {
      failure = Status(failure.code(), failure.message() + "; " + found.status().to_string(), failure.where());
    }
  }
  if (!failure.ok()) return failure;
  return all;
}

Result<OpenSources> open_sources(const std::shared_ptr<const Op>& last, const std::shared_ptr<Dataset::Shared>& shared,
                                 WarningLog* warnings) {
  OpenSources sources;
  std::vector<SourceChain> chains = source_chains(last, shared);
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ShardList> found, find_files(chains));
  ShardList all;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (const std::string& warning : found[i].warnings) warnings->add(warning, warning);
    OpenSource source{.chain = std::move(chains[i]), .later = found[i].later, .stop = found[i].stop};
    source.options = source_options(source.chain);
    HEADRACE_RETURN_IF_ERROR(assign_records(found[i], warnings, &source));
    for (ShardPart& part : source.assignment.parts) part.shard += static_cast<std::uint32_t>(all.files.size());
    all.files.insert(all.files.end(), found[i].files.begin(), found[i].files.end());
    sources.each.push_back(std::move(source));
  }
  sources.shards = std::make_shared<const ShardList>(std::move(all));
  return sources;
}

}  // namespace headrace

#include <utility>

#include "headrace/records.h"
#include "record/shard_reader.h"
#include "record/source.h"
#include "shard/file_list.h"

namespace headrace {

struct RecordReader::Impl {
  Impl(ShardFile file, const ReadOptions& options)
      : skipped(options.max_skipped), reader(&blocks, std::move(file), 0, options, {}) {}
  ~Impl() { release_block(); }

  void release_block() {
    if (block == nullptr) return;
    const RecordRun whole{block, 0, static_cast<std::uint32_t>(block->records.size())};
    blocks.release({&whole, 1});
    block = nullptr;
  }
  /// Takes the next block; `ended` or `failure` when there is none.
  void next_block();

  BlockPool blocks;
  SkipLog skipped;
  ShardReader reader;
  RecordBlock* block = nullptr;
  std::uint32_t next = 0;
  bool ended = false;
  Status failure;
};

void RecordReader::Impl::next_block() {
  release_block();
  ShardPiece piece;
  const ReadStep step = reader.step(true, &piece);
  for (const SkippedRegion& damage : piece.damage) {
    if (failure.ok()) failure = skipped.add(damage);
  }
  block = piece.block;
  next = 0;
  ended = step == ReadStep::kEnd;
  if (step == ReadStep::kFailed && failure.ok()) failure = piece.failure;
}

RecordReader::RecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

Result<RecordReader> RecordReader::open(const std::string& path, const ReadOptions& options) {
  HEADRACE_ASSIGN_OR_RETURN(ShardFile file, find_shard(path, options.provider));
  auto impl = std::make_unique<Impl>(std::move(file), options);
  impl->next_block();
  // What is wrong with the file itself is said here; damaged records are said by next(), in their place.
  if (!impl->failure.ok() && impl->failure.code() != StatusCode::kDataLoss) return impl->failure;
  return RecordReader(std::move(impl));
}

Result<std::optional<std::string_view>> RecordReader::next() {
  Impl& impl = *impl_;
  while (impl.failure.ok() && !impl.ended && impl.next == impl.block->records.size()) impl.next_block();
  if (!impl.failure.ok()) return impl.failure;
  if (impl.ended) return std::optional<std::string_view>();
  const auto payload = impl.block->payload(impl.next++);
  return std::optional(std::string_view(reinterpret_cast<const char*>(payload.data()), payload.size()));
}

}  // namespace headrace

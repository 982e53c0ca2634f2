#include <utility>

#include "headrace/verify.h"
#include "record/block.h"
#include "record/shard_reader.h"
#include "shard/file_list.h"

namespace headrace {
namespace {

// Some milliseconds of work.
constexpr std::uint64_t kStepBytes = 8 << 20;

ReadOptions read_options(const VerifyOptions& options) {
  return {
      .compression = options.compression, .on_corrupt = OnCorrupt::kSkip, .max_record_bytes = options.max_record_bytes};
}

}  // namespace

struct ShardVerifier::Impl {
  Impl(ShardFile file, const VerifyOptions& options, std::optional<RecordWriter> copy_in)
      : reader(&blocks, std::move(file), 0, read_options(options), {}), copy(std::move(copy_in)) {}

  /// Counts and copies the records of `block`, and gives it back.
  Status take(RecordBlock* block, std::uint64_t* bytes) {
    Status written;
    for (std::uint32_t i = 0; i < block->records.size(); ++i) {
      const auto payload = block->payload(i);
      *bytes += payload.size();
      if (copy && written.ok()) {
        written = copy->write({reinterpret_cast<const char*>(payload.data()), payload.size()});
      }
    }
    counts.records += static_cast<std::int64_t>(block->records.size());
    const RecordRun whole{block, 0, static_cast<std::uint32_t>(block->records.size())};
    blocks.release({&whole, 1});
    return written;
  }

  BlockPool blocks;
  ShardReader reader;
  std::optional<RecordWriter> copy;
  VerifyCounts counts;
  std::vector<SkippedRegion> regions;
  Status failure;
};

ShardVerifier::ShardVerifier(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardVerifier::ShardVerifier(ShardVerifier&&) noexcept = default;
ShardVerifier& ShardVerifier::operator=(ShardVerifier&&) noexcept = default;
ShardVerifier::~ShardVerifier() = default;

Result<ShardVerifier> ShardVerifier::open(const std::string& path, const VerifyOptions& options,
                                          std::optional<RecordWriter> copy) {
  if (options.max_record_bytes.value_or(1) < 1) {
    return invalid_argument("max_record_bytes=" + std::to_string(*options.max_record_bytes) + " must be >= 1");
  }
  HEADRACE_ASSIGN_OR_RETURN(ShardFile file, find_shard(path, options.provider));
  return ShardVerifier(std::make_unique<Impl>(std::move(file), options, std::move(copy)));
}

Result<bool> ShardVerifier::step() {
  Impl& impl = *impl_;
  std::uint64_t bytes = 0;
  bool goes_on = true;
  while (goes_on && impl.failure.ok() && bytes < kStepBytes) {
    ShardPiece piece;
    const ReadStep step = impl.reader.step(true, &piece);
    impl.counts.regions += static_cast<std::int64_t>(piece.damage.size());
    for (SkippedRegion& region : piece.damage) impl.regions.push_back(std::move(region));
    if (step == ReadStep::kBlock) {
      impl.failure = impl.take(piece.block, &bytes);
    } else {
      impl.failure = piece.failure;
      goes_on = false;
    }
  }
  impl.counts.bytes += static_cast<std::int64_t>(bytes);
  impl.counts.file_position = static_cast<std::int64_t>(impl.reader.file_position());
  impl.counts.compression = static_cast<CompressionType>(impl.reader.compression());
  if (!impl.failure.ok()) return impl.failure;
  return goes_on;
}

VerifyCounts ShardVerifier::counts() const { return impl_->counts; }

std::vector<SkippedRegion> ShardVerifier::take_regions() { return std::exchange(impl_->regions, {}); }

Status ShardVerifier::close_copy() {
  if (!impl_->copy) return invalid_argument("close_copy(): there is no copy");
  return impl_->copy->close();
}

Result<FoundFiles> find_files(const Files& files, const std::shared_ptr<const FileProvider>& provider) {
  HEADRACE_ASSIGN_OR_RETURN(ShardList found,
                            find_shards({.items = files.items, .is_list = files.is_list, .provider = provider}));
  // What is shown of a URL on the web does not open it; such URLs are literal, one file each.
  const bool is_literal =
      provider == nullptr && (files.is_list || shown_path(files.items.front()) != files.items.front());
  FoundFiles result;
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    ShardFile& file = found.files[i];
    std::string name = is_literal ? files.items[i] : file.path;
    result.files.push_back({std::move(file.path), static_cast<std::int64_t>(file.bytes), std::move(name)});
  }
  result.warnings = std::move(found.warnings);
  return result;
}

}  // namespace headrace

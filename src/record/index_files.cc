// Where index files are, and how they are made and found.
#include "record/index_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/environment.h"
#include "base/fingerprint.h"
#include "record/index_codec.h"
#include "record/index_identity.h"
#include "record/shard_reader.h"
#include "runtime/interrupt.h"
#include "shard/byte_sink.h"
#include "shard/file.h"
#include "shard/remote.h"
#include "shard/seek_points.h"
#include "shard/shard_names.h"

namespace headrace {
namespace {

constexpr const char* kSuffix = ".hrindex";
// An index larger than this is not read: some hundred million records.
constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{1} << 30;

std::string beside(const std::string& path) {
  const std::string name(base_name(path));
  return path.substr(0, path.size() - name.size()) + "." + name + kSuffix;
}

std::string hex(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

Result<std::string> cached(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string folder, environment_cache_dir());
  if (folder.empty()) {
    return invalid_argument("there is no cache folder: set HEADRACE_CACHE_DIR, or keep the index beside the data");
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) return file_failure("cannot find", path, error.value());
  return folder + "/index/" + hex(fingerprint64(absolute)) + kSuffix;
}

}  // namespace

std::uint64_t RecordIndex::payload_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::uint32_t length : lengths) bytes += length;
  return bytes;
}

std::uint64_t RecordIndex::stream_bytes() const { return payload_bytes() + kFrameBytes * lengths.size(); }

Result<std::string> index_path(const std::string& path, IndexPlace place) {
  return place == IndexPlace::kBeside ? Result<std::string>(beside(path)) : cached(path);
}

Result<RecordIndex> build_index(const std::string& path, const VerifyOptions& options) {
  if (is_remote(path)) return invalid_argument("an index is made of a local file; " + path + " is a URL");
  RecordIndex index;
  HEADRACE_ASSIGN_OR_RETURN(index.identity, identity_of(path));
  BlockPool blocks;
  ShardReader reader(&blocks, {.path = path}, 0,
                     {.compression = options.compression, .max_record_bytes = options.max_record_bytes}, {});
  for (;;) {
    ShardPiece piece;
    const ReadStep step = reader.step(true, &piece);
    if (step == ReadStep::kFailed) return piece.failure;
    if (step == ReadStep::kEnd) break;
    if (interrupted()) return cancelled("stopped while making the index of " + path);
    for (const RecordSpan& record : piece.block->records) index.lengths.push_back(record.length);
    const RecordRun whole{piece.block, 0, static_cast<std::uint32_t>(piece.block->records.size())};
    blocks.release({&whole, 1});
  }
  if (reader.compression() == Compression::kGzip) {
    HEADRACE_ASSIGN_OR_RETURN(index.points, find_seek_points(path));
  }
  HEADRACE_ASSIGN_OR_RETURN(const FileIdentity after, identity_of(path));
  if (after == *index.identity) return index;
  return data_loss("the file was changed while it was read", {.path = path});
}

Result<std::string> store_index(const RecordIndex& index, const std::string& path, IndexPlace place) {
  HEADRACE_ASSIGN_OR_RETURN(std::string target, index_path(path, place));
  if (place == IndexPlace::kCache) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(target).parent_path(), error);
    if (error) return file_failure("cannot create the cache folder of", target, error.value());
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                            ByteSink::create(target, Compression::kNone, std::nullopt));
  HEADRACE_RETURN_IF_ERROR(sink->write(encode_index(index)));
  HEADRACE_RETURN_IF_ERROR(sink->close());
  return target;
}

Result<std::string> write_index(const std::string& path, IndexPlace place, const VerifyOptions& options) {
  HEADRACE_RETURN_IF_ERROR(index_path(path, place).status());  // before the file is read
  HEADRACE_ASSIGN_OR_RETURN(const RecordIndex index, build_index(path, options));
  return store_index(index, path, place);
}

Result<RecordIndex> read_index(const std::string& index_path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(index_path));
  if (file.size() > kMaxIndexBytes) return data_loss("too large for an index", {.path = index_path});
  std::vector<std::uint8_t> bytes(file.size());
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file.read_at(bytes.data(), bytes.size(), 0));
  bytes.resize(n);
  Result<RecordIndex> index = decode_index(bytes);
  if (!index.ok()) return index.status().with({.path = index_path});
  index->path = index_path;
  return index;
}

Result<std::optional<RecordIndex>> find_index(const std::string& path) {
  std::vector<std::string> places = {beside(path), path + ".idx"};
  if (Result<std::string> in_cache = cached(path); in_cache.ok()) places.push_back(std::move(*in_cache));
  for (const std::string& place : places) {
    Result<RecordIndex> index = read_index(place);
    if (!index.ok()) continue;  // none, or one that is of no use
    HEADRACE_ASSIGN_OR_RETURN(const bool is_current, fits(*index, path));
    if (is_current) return std::optional<RecordIndex>(std::move(*index));
  }
  return std::optional<RecordIndex>();
}

}  // namespace headrace

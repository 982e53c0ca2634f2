// Where index files are, how they are made, and whether one is that of a file as it is now.
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/environment.h"
#include "base/fingerprint.h"
#include "base/wire.h"
#include "record/framing.h"
#include "record/index_codec.h"
#include "record/shard_reader.h"
#include "shard/byte_sink.h"
#include "shard/file.h"
#include "shard/remote.h"
#include "shard/shard_names.h"

namespace headrace {
namespace {

constexpr const char* kSuffix = ".hrindex";
// An index larger than this is not read: some hundred million records.
constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{1} << 30;

// Of a file that can be read; empty files have words of 0.
Result<FileIdentity> identity_of(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(path));
  FileIdentity identity{.bytes = file.size()};
  if (file.size() < kFrameBytes) return identity;
  std::uint8_t word[4];
  HEADRACE_RETURN_IF_ERROR(file.read_at(word, sizeof word, 8).status());
  identity.first_word = load_u32(word);
  HEADRACE_RETURN_IF_ERROR(file.read_at(word, sizeof word, file.size() - sizeof word).status());
  identity.last_word = load_u32(word);
  return identity;
}

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

// An index of another program fits a plain file that ends where its last record does and begins with its first.
Result<bool> fits_plain(const RecordIndex& index, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(path));
  if (file.size() != index.stream_bytes()) return false;
  if (index.lengths.empty()) return true;
  std::uint8_t header[kHeaderBytes];
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file.read_at(header, sizeof header, 0));
  return n == sizeof header && header_holds(header) && load_u64(header) == index.lengths.front();
}

Result<bool> fits(const RecordIndex& index, const std::string& path) {
  if (!index.identity) return fits_plain(index, path);
  HEADRACE_ASSIGN_OR_RETURN(const FileIdentity now, identity_of(path));
  return now == *index.identity;
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
    for (const RecordSpan& record : piece.block->records) index.lengths.push_back(record.length);
    const RecordRun whole{piece.block, 0, static_cast<std::uint32_t>(piece.block->records.size())};
    blocks.release({&whole, 1});
  }
  HEADRACE_ASSIGN_OR_RETURN(const FileIdentity after, identity_of(path));
  if (after == *index.identity) return index;
  return data_loss("the file was changed while it was read", {.path = path});
}

Result<std::string> write_index(const std::string& path, IndexPlace place, const VerifyOptions& options) {
  HEADRACE_ASSIGN_OR_RETURN(std::string target, index_path(path, place));
  HEADRACE_ASSIGN_OR_RETURN(const RecordIndex index, build_index(path, options));
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

Result<RecordIndex> read_index(const std::string& index_path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(index_path));
  if (file.size() > kMaxIndexBytes) return data_loss("too large for an index", {.path = index_path});
  std::vector<std::uint8_t> bytes(file.size());
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file.read_at(bytes.data(), bytes.size(), 0));
  bytes.resize(n);
  Result<RecordIndex> index = decode_index(bytes);
  if (!index.ok()) return index.status().with({.path = index_path});
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

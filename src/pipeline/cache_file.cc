#include "pipeline/cache_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/varints.h"
#include "base/wire.h"
#include "runtime/mutex.h"
#include "shard/byte_sink.h"
#include "shard/file.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRCACHE1";
// The end of the file: place and bytes of the index, its CRC-32C, the magic again.
constexpr std::size_t kFooterBytes = 8 + 8 + 4 + kMagic.size();
// An index larger than this is not read: some ten million batches.
constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{1} << 30;

using Bytes = std::vector<std::uint8_t>;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Status damaged(const std::string& path, const std::string& why) {
  return data_loss("the cache file is damaged: " + why + "; remove it, and it is made anew", {.path = path});
}

struct Place {
  KnownBatch known;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

Bytes encode_index(const std::string& identity, const std::vector<Place>& places) {
  Bytes index;
  put_varint(identity.size(), &index);
  index.insert(index.end(), identity.begin(), identity.end());
  put_varint(places.size(), &index);
  for (const Place& place : places) {
    put_varint(static_cast<std::uint64_t>(place.known.rows), &index);
    put_varint(static_cast<std::uint64_t>(place.known.epoch), &index);
    put_varint(place.offset, &index);
    put_varint(place.bytes, &index);
    put_varint(place.crc, &index);
  }
  return index;
}

class FileEpoch final : public CachedEpoch {
 public:
  FileEpoch(File file, std::vector<Place> places) : file_(std::move(file)), places_(std::move(places)) {
    for (const Place& place : places_) batches_.push_back(place.known);
  }

  const std::vector<KnownBatch>& batches() const override { return batches_; }
  std::int64_t memory_bytes() const override { return 0; }

  Result<std::span<const std::uint8_t>> read(std::int64_t slot, EncodedBatch* room) const override {
    const Place& place = places_[static_cast<std::size_t>(slot)];
    room->resize(static_cast<std::size_t>(place.bytes));
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, file_.read_at(room->data(), room->size(), place.offset));
    if (got < room->size() || crc32c(room->data(), room->size()) != place.crc) {
      return damaged(file_.path(), "the checksum of batch " + std::to_string(slot) + " is wrong")
          .with({.offset = static_cast<std::int64_t>(place.offset)});
    }
    return std::span<const std::uint8_t>(*room);
  }

 private:
  const File file_;
  const std::vector<Place> places_;
  std::vector<KnownBatch> batches_;
};

Result<Bytes> read_index(const File& file) {
  std::uint8_t footer[kFooterBytes];
  if (file.size() < kMagic.size() + kFooterBytes) return damaged(file.path(), "it is too short");
  const std::uint64_t end = file.size() - kFooterBytes;
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, file.read_at(footer, kFooterBytes, end));
  if (got < kFooterBytes || std::memcmp(footer + 20, kMagic.data(), kMagic.size()) != 0) {
    return damaged(file.path(), "its end is not that of a cache file");
  }
  const std::uint64_t offset = load_u64(footer);
  const std::uint64_t bytes = load_u64(footer + 8);
  if (bytes > kMaxIndexBytes || offset > end || bytes != end - offset) {
    return damaged(file.path(), "its index is not where it should be");
  }
  Bytes index(static_cast<std::size_t>(bytes));
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t read, file.read_at(index.data(), index.size(), offset));
  if (read < index.size() || crc32c(index.data(), index.size()) != load_u32(footer + 16)) {
    return damaged(file.path(), "the checksum of its index is wrong");
  }
  return index;
}

class FileWriter final : public EpochWriter {
 public:
  FileWriter(std::string path, std::string identity, std::unique_ptr<ByteSink> sink)
      : path_(std::move(path)), identity_(std::move(identity)), sink_(std::move(sink)) {}

  Status add(std::int64_t slot, const KnownBatch& known, EncodedBatch bytes) override {
    const std::uint32_t crc = crc32c(bytes.data(), bytes.size());
    const auto at = static_cast<std::size_t>(slot);
    MutexLock lock(mutex_);
    HEADRACE_RETURN_IF_ERROR(sink_->write(bytes));
    if (at >= places_.size()) places_.resize(at + 1);
    places_[at] = {known, written_, bytes.size(), crc};
    written_ += bytes.size();
    return {};
  }

  Result<std::shared_ptr<const CachedEpoch>> finish() override {
    {
      MutexLock lock(mutex_);
      const Bytes index = encode_index(identity_, places_);
      std::uint8_t footer[kFooterBytes];
      store_u64(footer, written_);
      store_u64(footer + 8, index.size());
      store_u32(footer + 16, crc32c(index.data(), index.size()));
      std::memcpy(footer + 20, kMagic.data(), kMagic.size());
      HEADRACE_RETURN_IF_ERROR(sink_->write(index));
      HEADRACE_RETURN_IF_ERROR(sink_->write(footer));
      HEADRACE_RETURN_IF_ERROR(sink_->close());
    }
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const CachedEpoch> epoch, open_cache_file(path_, identity_));
    if (epoch == nullptr) return Status(StatusCode::kNotFound, "the cache file is gone", {.path = path_});
    return epoch;
  }

 private:
  const std::string path_;
  const std::string identity_;
  Mutex mutex_;
  const std::unique_ptr<ByteSink> sink_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t written_ HEADRACE_GUARDED_BY(mutex_) = kMagic.size();
  std::vector<Place> places_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<const CachedEpoch>> open_cache_file(const std::string& path, const std::string& identity) {
  Result<File> file = File::open(path);
  if (!file.ok() && file.status().code() == StatusCode::kNotFound) return std::shared_ptr<const CachedEpoch>();
  if (!file.ok()) return file.status();
  std::uint8_t head[kMagic.size()] = {};
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, file->read_at(head, sizeof head, 0));
  if (got < sizeof head || std::memcmp(head, kMagic.data(), sizeof head) != 0) {
    return damaged(path, "its start is not that of a cache file");
  }
  HEADRACE_ASSIGN_OR_RETURN(const Bytes index, read_index(*file));
  VarintReader reader(index);
  const std::span<const std::uint8_t> text = reader.take(reader.count());
  const std::string made_of(text.begin(), text.end());
  std::vector<Place> places(reader.count(5));
  for (Place& place : places) {
    place.known = {static_cast<std::int64_t>(reader.get()), static_cast<std::int64_t>(reader.get())};
    place.offset = reader.get();
    place.bytes = reader.get();
    place.crc = static_cast<std::uint32_t>(reader.get());
    const bool fits = place.offset <= file->size() && place.bytes <= file->size() - place.offset;
    if (!reader.ok() || !fits || place.known.rows < 0) return damaged(path, "its index is wrong");
  }
  if (!reader.ok() || reader.left() > 0) return damaged(path, "its index is wrong");
  if (made_of != identity) {
    return Status(StatusCode::kInvalidArgument,
                  "cache(): the file is of other data: it was made of '" + made_of + "', this pipeline is '" +
                      identity + "'; remove it, or name another file",
                  {.path = path});
  }
  return std::shared_ptr<const CachedEpoch>(std::make_shared<const FileEpoch>(std::move(*file), std::move(places)));
}

Result<std::unique_ptr<EpochWriter>> make_file_writer(const std::string& path, const std::string& identity) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, ByteSink::create(path, Compression::kNone, std::nullopt));
  HEADRACE_RETURN_IF_ERROR(sink->write(bytes_of(kMagic)));
  return std::unique_ptr<EpochWriter>(std::make_unique<FileWriter>(path, identity, std::move(sink)));
}

}  // namespace headrace

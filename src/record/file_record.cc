#include "record/file_record.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/wire.h"
#include "record/framing.h"
#include "record/length_limit.h"
#include "shard/stored_file.h"

namespace headrace {
namespace {

// Of Example.features, Features.feature, the key and the value of an entry, Feature.bytes_list and BytesList.value.
constexpr char kField1 = 0x0A;
constexpr char kField2 = 0x12;

void put_head(std::string* out, char tag, std::uint64_t size) {
  std::uint8_t varint[10];
  out->push_back(tag);
  out->append(reinterpret_cast<const char*>(varint), static_cast<std::size_t>(write_varint(varint, size) - varint));
}

std::uint64_t with_head(std::uint64_t size) {
  std::uint8_t varint[10];
  return 1 + static_cast<std::uint64_t>(write_varint(varint, size) - varint) + size;
}

std::uint64_t entry_bytes(std::string_view key, std::uint64_t value_bytes) {
  return with_head(key.size()) + with_head(with_head(with_head(value_bytes)));
}

// An entry of Features up to the bytes of its one value.
void put_entry(std::string* out, std::string_view key, std::uint64_t value_bytes) {
  put_head(out, kField1, entry_bytes(key, value_bytes));
  put_head(out, kField1, key.size());
  out->append(key);
  put_head(out, kField2, with_head(with_head(value_bytes)));
  put_head(out, kField1, with_head(value_bytes));
  put_head(out, kField1, value_bytes);
}

// The Example {"path": path, "bytes": file} up to the bytes of the file.
std::string example_head(const std::string& path, std::uint64_t file_bytes) {
  constexpr std::string_view kPath = "path";
  constexpr std::string_view kBytes = "bytes";
  std::string head;
  put_head(&head, kField1, with_head(entry_bytes(kPath, path.size())) + with_head(entry_bytes(kBytes, file_bytes)));
  put_entry(&head, kPath, path.size());
  head += path;
  put_entry(&head, kBytes, file_bytes);
  return head;
}

Status read_whole(StoredFile* file, std::uint8_t* data) {
  std::uint64_t done = 0;
  while (done < file->size()) {
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file->read_at(data + done, file->size() - done, done));
    if (n == 0) return data_loss("the file ends at byte " + std::to_string(done));
    done += n;
  }
  return {};
}

}  // namespace

Result<RecordBlock*> read_file_record(BlockPool* blocks, const ShardFile& listed, std::uint32_t shard, RecordKind kind,
                                      const ReadOptions& options) {
  const Where where{.path = listed.path, .record = 0, .offset = 0};
  Result<std::unique_ptr<StoredFile>> opened = open_stored_file(listed);
  if (!opened.ok()) return opened.status().with(where);
  StoredFile* const file = opened->get();
  const std::string head = kind == RecordKind::kFileExample ? example_head(listed.path, file->size()) : std::string();
  const std::uint64_t length = head.size() + file->size();
  const std::uint64_t most = length_limit(options);
  if (file->size() > most || length > length_limit({})) {
    return Status(StatusCode::kResourceExhausted,
                  "a file of " + std::to_string(file->size()) + " bytes is over " + describe_limit(most, options),
                  where);
  }
  // The room of a record's header stands before it, so that its place is that of a record at the beginning of a shard.
  RecordBlock* block = blocks->acquire(kHeaderBytes + length);
  if (block == nullptr) {
    return Status(StatusCode::kResourceExhausted, "no memory for a file of " + std::to_string(file->size()) + " bytes",
                  where);
  }
  std::copy(head.begin(), head.end(), block->data + kHeaderBytes);
  const Status read = read_whole(file, block->data + kHeaderBytes + head.size());
  if (!read.ok()) {
    blocks->discard(block);
    return read.with(where);
  }
  block->shard = shard;
  block->first_ordinal = 0;
  block->stream_offset = 0;
  block->records.push_back({kHeaderBytes, static_cast<std::uint32_t>(length)});
  blocks->publish(block);
  return block;
}

ReadStep FileRecord::step(bool may_wait, ShardPiece* piece) {
  if (!is_read_ && failure_.ok()) {
    if (!may_wait) return ReadStep::kWouldWait;
    Result<RecordBlock*> block = read_file_record(blocks_, file_, shard_, kind_, options_);
    if (block.ok()) {
      is_read_ = true;
      piece->block = *block;
      return ReadStep::kBlock;
    }
    failure_ = block.status();
  }
  piece->failure = failure_;
  return failure_.ok() ? ReadStep::kEnd : ReadStep::kFailed;
}

}  // namespace headrace

#include "shard/byte_source.h"

#include <array>

#include "shard/content.h"
#include "shard/inflate_source.h"
#include "shard/plain_source.h"

namespace headrace {
namespace {

Status wrong_compression(const std::string& path, Compression wanted, std::span<const std::uint8_t> head) {
  std::string text = std::string("not a ") + compression_name(wanted) + " file";
  const std::string content = describe_content(head);
  if (!content.empty()) text += ": it looks like " + content;
  return data_loss(text, {.path = path});
}

}  // namespace

Status seek_to(ByteSource* source, std::uint64_t offset, bool over_damage) {
  Status moved = source->seek(offset);
  while (over_damage && moved.code() == StatusCode::kDataLoss) {
    HEADRACE_ASSIGN_OR_RETURN(const bool recovered, source->recover());
    if (!recovered || source->position() > offset) break;
    moved = source->seek(offset);
  }
  return moved;
}

Result<std::unique_ptr<ByteSource>> open_byte_source(const ShardFile& file, Compression compression) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> opened, open_stored_file(file));
  return open_byte_source(std::move(opened), compression);
}

Result<std::unique_ptr<ByteSource>> open_byte_source(std::unique_ptr<StoredFile> file, Compression compression) {
  if (compression == Compression::kNone || file->size() == 0) {
    return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(file)));
  }
  std::array<std::uint8_t, kContentBytes> bytes;
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file->read_at(bytes.data(), bytes.size(), 0));
  const std::span<const std::uint8_t> head(bytes.data(), n);
  const Compression found = detect_compression(head);
  if (compression == Compression::kAuto) {
    if (found == Compression::kNone) {
      return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(file)));
    }
    return make_inflate_source(std::move(file), found);
  }
  // One byte decides nothing; the inflater says that the header is cut. It also knows best what is wrong behind gzip's magic.
  const bool is_damaged_gzip = compression == Compression::kGzip && n >= 2 && head[0] == 0x1F && head[1] == 0x8B;
  if (n >= 2 && found != compression && !is_damaged_gzip) return wrong_compression(file->path(), compression, head);
  return make_inflate_source(std::move(file), compression);
}

}  // namespace headrace

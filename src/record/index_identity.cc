#include "record/index_identity.h"

#include "base/wire.h"
#include "record/framing.h"
#include "shard/file.h"

namespace headrace {
namespace {

Result<bool> fits_plain(const RecordIndex& index, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(path));
  if (file.size() != index.stream_bytes()) return false;
  if (index.lengths.empty()) return true;
  std::uint8_t header[kHeaderBytes];
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, file.read_at(header, sizeof header, 0));
  return n == sizeof header && header_holds(header) && load_u64(header) == index.lengths.front();
}

}  // namespace

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

Result<bool> fits(const RecordIndex& index, const std::string& path) {
  if (!index.identity) return fits_plain(index, path);
  HEADRACE_ASSIGN_OR_RETURN(const FileIdentity now, identity_of(path));
  return now == *index.identity;
}

}  // namespace headrace

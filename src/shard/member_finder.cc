#include "shard/member_finder.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/wire.h"
#include "shard/inflater.h"
#include "shard/snappy_frames.h"

namespace headrace {
namespace {

constexpr std::size_t kWindowBytes = 64 * 1024;
constexpr std::uint64_t kEnoughBytes = 64 * 1024;
// What has to be seen of a member to take its first bytes for a header.
constexpr std::size_t kHeadBytes = 12;

// read_at(), with the end of what the file has in place of a file that became shorter.
Result<std::size_t> read_some(StoredFile* file, std::vector<std::uint8_t>* bytes, std::uint64_t offset) {
  Result<std::size_t> n = file->read_at(bytes->data(), bytes->size(), offset);
  if (!n.ok() && n.status().code() == StatusCode::kDataLoss) return std::size_t{0};
  return n;
}

bool seems_snappy(std::span<const std::uint8_t> head) {
  if (std::equal(kSnappyStart.begin(), kSnappyStart.end(), head.begin())) return true;
  if (head[0] != kSnappyCompressed && head[0] != kSnappyUncompressed) return false;
  const std::uint32_t body_bytes = load_u32(head.data()) >> 8;
  if (body_bytes <= kSnappyChecksumBytes) return false;
  if (head[0] == kSnappyUncompressed) return body_bytes <= kSnappyChecksumBytes + kSnappyChunkBytes;
  // The uncompressed size stands first, as a varint: at most 64 KiB, and no less than a fraction of the compressed one.
  const std::uint8_t* size = head.data() + kSnappyHeaderBytes + kSnappyChecksumBytes;
  const std::uint32_t whole =
      (size[0] & 0x7FU) |
      (size[0] < 0x80 ? 0 : (size[1] & 0x7FU) << 7 | (size[1] < 0x80 ? 0 : (size[2] & 0x7FU) << 14));
  return whole > 0 && whole <= kSnappyChunkBytes && body_bytes <= 64 + whole + whole / 6;
}

bool seems_to_begin(std::span<const std::uint8_t> head, Compression format) {
  switch (format) {
    case Compression::kGzip:
      return head[0] == 0x1F && head[1] == 0x8B && head[2] == 8 && (head[3] & 0xE0) == 0;
    case Compression::kZstd:
      return load_u32(head.data()) == 0xFD2FB528U;
    case Compression::kSnappy:
      return seems_snappy(head);
    default:
      return false;
  }
}

}  // namespace

Result<MemberCheck> check_member(StoredFile* file, Compression format, std::uint64_t offset, std::uint64_t most) {
  const std::unique_ptr<Inflater> inflater = make_inflater(format);
  if (inflater == nullptr) {
    return Status(StatusCode::kResourceExhausted, "no memory to inflate", {.path = file->path()});
  }
  std::vector<std::uint8_t> input(kWindowBytes);
  std::vector<std::uint8_t> output(kWindowBytes);
  const std::uint8_t* in = input.data();
  std::size_t in_size = 0;
  MemberCheck check;
  while (check.bytes < most) {
    if (in_size == 0) {
      HEADRACE_ASSIGN_OR_RETURN(in_size, read_some(file, &input, offset));
      in = input.data();
      offset += in_size;
    }
    const bool has_input = in_size > 0;
    std::uint8_t* out = output.data();
    std::size_t room = output.size();
    const Inflater::Outcome outcome = inflater->step(&in, &in_size, &out, &room);
    check.bytes += output.size() - room;
    if (outcome == Inflater::Outcome::kMemberEnd) check.outcome = MemberCheck::Outcome::kWhole;
    const bool is_cut = !has_input && room == output.size();
    if (outcome != Inflater::Outcome::kMore || is_cut) return check;
  }
  check.outcome = MemberCheck::Outcome::kLong;
  return check;
}

Result<std::optional<std::uint64_t>> find_member(StoredFile* file, Compression format, std::uint64_t from) {
  if (format == Compression::kZlib) return std::optional<std::uint64_t>();
  std::vector<std::uint8_t> window(kWindowBytes);
  for (;; from += kWindowBytes - kHeadBytes) {
    HEADRACE_ASSIGN_OR_RETURN(const std::size_t n, read_some(file, &window, from));
    for (std::size_t i = 0; i + kHeadBytes <= n; ++i) {
      if (!seems_to_begin({window.data() + i, kHeadBytes}, format)) continue;
      HEADRACE_ASSIGN_OR_RETURN(const MemberCheck check, check_member(file, format, from + i, kEnoughBytes));
      if (check.outcome != MemberCheck::Outcome::kBroken) return std::optional(from + i);
    }
    if (n < kWindowBytes) return std::optional<std::uint64_t>();
  }
}

}  // namespace headrace

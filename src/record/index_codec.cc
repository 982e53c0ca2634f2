#include "record/index_codec.h"

#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/wire.h"
#include "record/framing.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRINDEX1";
constexpr std::string_view kMagicWithPoints = "HRINDEX2";
constexpr std::size_t kWindowBytes = 32 * 1024;
constexpr std::size_t kChecksumBytes = 4;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ (0 - (static_cast<std::uint64_t>(value) >> 63));
}
std::int64_t unzigzag(std::uint64_t value) { return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1))); }

Status damaged(const char* why) { return data_loss(std::string("a damaged index: ") + why); }

void put(std::uint64_t value, std::vector<std::uint8_t>* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<std::uint8_t>(value | 0x80));
  out->push_back(static_cast<std::uint8_t>(value));
}

void put_word(std::uint32_t value, std::vector<std::uint8_t>* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<std::uint8_t>(value >> shift));
}

void put_points(const std::vector<SeekPoint>& points, std::vector<std::uint8_t>* out) {
  put(points.size(), out);
  SeekPoint before;
  for (const SeekPoint& point : points) {
    put(point.stream_offset - before.stream_offset, out);
    put(point.file_offset - before.file_offset, out);
    out->push_back(point.bits);
    put(point.window.size(), out);
    out->insert(out->end(), point.window.begin(), point.window.end());
    before.stream_offset = point.stream_offset;
    before.file_offset = point.file_offset;
  }
}

// Null when there are no such points before `end`.
const std::uint8_t* read_points(const std::uint8_t* p, const std::uint8_t* end, const FileIdentity& identity,
                                std::vector<SeekPoint>* points) {
  std::uint64_t count = 0;
  p = read_varint(p, end, &count);
  if (p == nullptr || count > static_cast<std::uint64_t>(end - p)) return nullptr;
  SeekPoint before;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t stream = 0;
    std::uint64_t file = 0;
    std::uint64_t window = 0;
    p = read_varint(p, end, &stream);
    if (p != nullptr) p = read_varint(p, end, &file);
    if (p == nullptr || p == end) return nullptr;
    SeekPoint point{.bits = *p++};
    p = read_varint(p, end, &window);
    const bool holds = p != nullptr && window <= kWindowBytes && window <= static_cast<std::uint64_t>(end - p) &&
                       point.bits < 8 && file <= identity.bytes - before.file_offset &&
                       stream <= UINT64_MAX - before.stream_offset;
    if (!holds) return nullptr;
    point.stream_offset = before.stream_offset + stream;
    point.file_offset = before.file_offset + file;
    if (point.file_offset == 0) return nullptr;
    point.window.assign(p, p + window);
    p += window;
    before.stream_offset = point.stream_offset;
    before.file_offset = point.file_offset;
    points->push_back(std::move(point));
  }
  return p;
}

Result<RecordIndex> decode_ours(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kMagic.size() + kChecksumBytes) return damaged("it is cut");
  const std::uint8_t* const end = bytes.data() + bytes.size() - kChecksumBytes;
  if (crc32c(bytes.data(), bytes.size() - kChecksumBytes) != load_u32(end))
    return damaged("its checksum does not match");
  const std::uint8_t* p = bytes.data() + kMagic.size();
  RecordIndex index;
  FileIdentity identity;
  std::uint64_t count = 0;
  p = read_varint(p, end, &identity.bytes);
  if (p == nullptr || end - p < 8) return damaged("it is cut");
  identity.first_word = load_u32(p);
  identity.last_word = load_u32(p + 4);
  index.identity = identity;
  p = read_varint(p + 8, end, &count);
  if (p == nullptr || count > static_cast<std::uint64_t>(end - p)) return damaged("it has too few records");
  index.lengths.reserve(count);
  std::int64_t length = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t change = 0;
    p = read_varint(p, end, &change);
    if (p == nullptr) return damaged("it is cut");
    if (change > zigzag(UINT32_MAX) + 1) return damaged("an impossible length");
    length += unzigzag(change);
    if (length < 0 || length > UINT32_MAX) return damaged("an impossible length");
    index.lengths.push_back(static_cast<std::uint32_t>(length));
  }
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
  if (magic == kMagicWithPoints) {
    p = read_points(p, end, identity, &index.points);
    if (p == nullptr) return damaged("it has no such seek points");
  }
  if (p != end) return damaged("other data follow");
  return index;
}

// Lines of "offset size", the whole records one behind the other.
Result<RecordIndex> decode_text(std::string_view text) {
  const auto number = [&text](char behind, std::uint64_t* value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
  };
  RecordIndex index;
  std::uint64_t expected = 0;
  while (!text.empty()) {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    if (!number(' ', &offset) || !number('\n', &size)) return data_loss("not an index");
    const bool follows = offset == expected && size >= kFrameBytes && size - kFrameBytes <= UINT32_MAX;
    if (!follows) return damaged("its records do not follow one another");
    index.lengths.push_back(static_cast<std::uint32_t>(size - kFrameBytes));
    expected += size;
  }
  return index;
}

}  // namespace

std::vector<std::uint8_t> encode_index(const RecordIndex& index) {
  const FileIdentity& identity = *index.identity;
  std::vector<std::uint8_t> out;
  out.reserve(64 + 2 * index.lengths.size());  // most records differ little in length
  for (const char c : index.points.empty() ? kMagic : kMagicWithPoints) out.push_back(static_cast<std::uint8_t>(c));
  put(identity.bytes, &out);
  put_word(identity.first_word, &out);
  put_word(identity.last_word, &out);
  put(index.lengths.size(), &out);
  std::int64_t before = 0;
  for (const std::uint32_t length : index.lengths) {
    put(zigzag(length - before), &out);
    before = length;
  }
  if (!index.points.empty()) put_points(index.points, &out);
  put_word(crc32c(out.data(), out.size()), &out);
  return out;
}

Result<RecordIndex> decode_index(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool is_ours = text.starts_with(kMagic) || text.starts_with(kMagicWithPoints);
  return is_ours ? decode_ours(bytes) : decode_text(text);
}

}  // namespace headrace

#include "record/index_codec.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/varints.h"
#include "base/wire.h"
#include "record/framing.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRINDEX1";
constexpr std::string_view kMagicWithPoints = "HRINDEX2";
constexpr std::size_t kWindowBytes = 32 * 1024;
constexpr std::size_t kChecksumBytes = 4;

Status damaged(const char* why) { return data_loss(std::string("a damaged index: ") + why); }

void put_word(std::uint32_t value, std::vector<std::uint8_t>* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<std::uint8_t>(value >> shift));
}

void put_points(const std::vector<SeekPoint>& points, std::vector<std::uint8_t>* out) {
  put_varint(points.size(), out);
  SeekPoint before;
  for (const SeekPoint& point : points) {
    put_varint(point.stream_offset - before.stream_offset, out);
    put_varint(point.file_offset - before.file_offset, out);
    out->push_back(point.bits);
    put_varint(point.window.size(), out);
    out->insert(out->end(), point.window.begin(), point.window.end());
    before.stream_offset = point.stream_offset;
    before.file_offset = point.file_offset;
  }
}

bool read_points(VarintReader* in, const FileIdentity& identity, std::vector<SeekPoint>* points) {
  const std::size_t count = in->count(4);
  SeekPoint before;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t stream = in->get();
    const std::uint64_t file = in->get();
    const std::span<const std::uint8_t> bits = in->take(1);
    const std::size_t window_bytes = in->count();
    const std::span<const std::uint8_t> window = in->take(window_bytes);
    const bool holds = in->ok() && window_bytes <= kWindowBytes && bits[0] < 8 &&
                       file <= identity.bytes - before.file_offset && stream <= UINT64_MAX - before.stream_offset;
    if (!holds) return false;
    SeekPoint& point = points->emplace_back();
    point.stream_offset = before.stream_offset = before.stream_offset + stream;
    point.file_offset = before.file_offset = before.file_offset + file;
    point.bits = bits[0];
    point.window.assign(window.begin(), window.end());
    if (point.file_offset == 0) return false;
  }
  return in->ok();
}

Result<RecordIndex> decode_ours(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kMagic.size() + kChecksumBytes) return damaged("it is cut");
  const std::span<const std::uint8_t> body = bytes.first(bytes.size() - kChecksumBytes);
  if (crc32c(body.data(), body.size()) != load_u32(body.data() + body.size())) {
    return damaged("its checksum does not match");
  }
  VarintReader in(body.subspan(kMagic.size()));
  RecordIndex index;
  FileIdentity identity;
  identity.bytes = in.get();
  const std::span<const std::uint8_t> words = in.take(8);
  if (!in.ok()) return damaged("it is cut");
  identity.first_word = load_u32(words.data());
  identity.last_word = load_u32(words.data() + 4);
  index.identity = identity;
  const std::size_t count = in.count();
  if (!in.ok()) return damaged("it has too few records");
  index.lengths.reserve(count);
  std::int64_t length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t change = in.get();
    if (!in.ok()) return damaged("it is cut");
    if (change > zigzag(UINT32_MAX) + 1) return damaged("an impossible length");
    length += static_cast<std::int64_t>(unzigzag(change));
    if (length < 0 || length > UINT32_MAX) return damaged("an impossible length");
    index.lengths.push_back(static_cast<std::uint32_t>(length));
  }
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
  if (magic == kMagicWithPoints && !read_points(&in, identity, &index.points)) {
    return damaged("it has no such seek points");
  }
  if (in.left() > 0) return damaged("other data follow");
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
  put_varint(identity.bytes, &out);
  put_word(identity.first_word, &out);
  put_word(identity.last_word, &out);
  put_varint(index.lengths.size(), &out);
  std::int64_t before = 0;
  for (const std::uint32_t length : index.lengths) {
    put_varint(zigzag(static_cast<std::uint64_t>(length - before)), &out);
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

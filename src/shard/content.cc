#include "shard/content.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checksum.h"
#include "base/wire.h"

namespace headrace {
namespace {

using namespace std::string_view_literals;

std::string_view text_of(std::span<const std::uint8_t> head) {
  return {reinterpret_cast<const char*>(head.data()), head.size()};
}

// A zlib header: deflate, window of at most 32 KiB, no preset dictionary, header checksum.
bool is_zlib(std::span<const std::uint8_t> head) {
  if (head.size() < 2) return false;
  const unsigned cmf = head[0];
  const unsigned flags = head[1];
  return (cmf & 0x0F) == 8 && (cmf >> 4) <= 7 && (flags & 0x20) == 0 && (cmf * 256 + flags) % 31 == 0;
}

// Method and flags as well, where they are there: 1F 8B alone may be the length of a record whose header is damaged.
bool is_gzip(std::span<const std::uint8_t> head) {
  if (head.size() < 2 || head[0] != 0x1F || head[1] != 0x8B) return false;
  return head.size() < 4 || (head[2] == 8 && (head[3] & 0xE0) == 0);
}

// A zstd file may begin with a frame that holds no data.
bool is_skippable_zstd(std::span<const std::uint8_t> head) {
  return head.size() >= 4 && (load_u32(head.data()) & 0xFFFFFFF0U) == 0x184D2A50U;
}

bool is_text(std::string_view head) {
  return !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7F : c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

struct Magic {
  std::string_view bytes;
  std::string_view name;
};
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD"sv;
constexpr std::string_view kSnappyMagic = "\xFF\x06\x00\x00sNaPpY"sv;
constexpr std::array kMagics = {
    Magic{"\x1F\x8B"sv, "gzip data"},
    Magic{kZstdMagic, "zstd data"},
    Magic{"BZh"sv, "bzip2 data"},
    Magic{"\xFD\x37\x7A\x58\x5A\x00"sv, "xz data"},
    Magic{"\x04\x22\x4D\x18"sv, "lz4 data"},
    Magic{kSnappyMagic, "snappy data"},
    Magic{"PK\x03\x04"sv, "a zip archive"},
    Magic{"version https://git-lfs.github.com/"sv, "a git-lfs pointer: the real file was not fetched (git lfs pull)"},
    Magic{"\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
    Magic{"\x93NUMPY"sv, "a NumPy array file"},
    Magic{"PAR1"sv, "a Parquet file"},
    Magic{"ARROW1"sv, "an Arrow file"},
    Magic{"\x89PNG"sv, "a PNG image"},
    Magic{"\xFF\xD8\xFF"sv, "a JPEG image"},
};

}  // namespace

bool starts_with_record(std::span<const std::uint8_t> head) {
  return head.size() >= 12 && mask_crc(crc32c(head.data(), 8)) == load_u32(head.data() + 8);
}

Compression detect_compression(std::span<const std::uint8_t> head) {
  if (starts_with_record(head)) return Compression::kNone;
  if (is_gzip(head)) return Compression::kGzip;
  const std::string_view text = text_of(head);
  if (text.starts_with(kZstdMagic) || is_skippable_zstd(head)) return Compression::kZstd;
  if (text.starts_with(kSnappyMagic)) return Compression::kSnappy;
  // The upper half of a believable length is zero: a damaged header of a plain file stays plain.
  if (head.size() >= 8 && load_u32(head.data() + 4) == 0) return Compression::kNone;
  return is_zlib(head) ? Compression::kZlib : Compression::kNone;
}

std::string describe_content(std::span<const std::uint8_t> head) {
  if (starts_with_record(head)) return "uncompressed TFRecords";
  const std::string_view text = text_of(head);
  for (const Magic& magic : kMagics) {
    if (text.starts_with(magic.bytes)) return std::string(magic.name);
  }
  if (text.size() > 262 && text.substr(257, 5) == "ustar") return "a tar archive";
  if (text.starts_with("<!DOCTYPE") || text.starts_with("<!doctype") || text.starts_with("<html"))
    return "an HTML page";
  // Text before zlib: "x^" and "8O" are valid zlib headers, too.
  if (is_text(text)) return "text";
  if (is_zlib(head)) return "zlib data";
  return {};
}

}  // namespace headrace

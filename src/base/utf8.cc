#include "base/utf8.h"

#include <cstdint>

namespace headrace {
namespace {

// Length of the valid UTF-8 character at the front of `s`; 0 when there is none. Overlong forms, surrogates and code points
// above U+10FFFF are not valid.
std::size_t character_length(std::string_view s) {
  const auto byte = [&s](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool is_control(std::string_view s) {
  const auto c = static_cast<std::uint8_t>(s[0]);
  return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

}  // namespace

std::string printable_utf8(std::string_view bytes, std::size_t max_bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    std::string piece;
    if (length == 0 || is_control(bytes)) {
      const auto c = static_cast<std::uint8_t>(bytes[0]);
      piece = {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    } else {
      piece = bytes.substr(0, length);
    }
    if (out.size() + piece.size() > max_bytes) return out + "...";
    out += piece;
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace headrace

#include "shard/remote/bucket_list.h"

#include <charconv>
#include <pugixml.hpp>
#include <string_view>

#include "shard/remote/url.h"

namespace headrace {
namespace {

Status no_page() { return {StatusCode::kIo, "the server's list is none: it lacks what ListObjectsV2 has"}; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (is_escape) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace

Result<ObjectPage> parse_bucket_page(std::span<const std::uint8_t> body) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) return no_page();
  const pugi::xml_node list = document.child("ListBucketResult");
  if (!list) return no_page();
  const bool is_escaped = std::string_view(list.child_value("EncodingType")) == "url";
  ObjectPage page;
  for (const pugi::xml_node entry : list.children("Contents")) {
    const std::string_view key = entry.child_value("Key");
    const std::string_view size = entry.child_value("Size");
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    if (key.empty() || error != std::errc() || end != size.data() + size.size()) return no_page();
    page.entries.push_back({is_escaped ? percent_decode(key) : std::string(key), bytes, entry.child_value("ETag")});
  }
  if (std::string_view(list.child_value("IsTruncated")) == "true") {
    page.next = list.child_value("NextContinuationToken");
    if (page.next.empty()) return no_page();
  }
  return page;
}

BucketError parse_bucket_error(const std::string& body) {
  pugi::xml_document document;
  document.load_buffer(body.data(), body.size());
  const pugi::xml_node error = document.child("Error");
  return {error.child_value("Code"), error.child_value("Message")};
}

std::string bucket_list_query(const ListQuery& query) {
  std::string text;
  if (!query.page.empty()) text += "continuation-token=" + percent_encode(query.page, false) + "&";
  if (query.is_flat) text += "delimiter=%2F&";
  text += "encoding-type=url&list-type=2&max-keys=1000";
  if (!query.prefix.empty()) text += "&prefix=" + percent_encode(query.prefix, false);
  return text;
}

}  // namespace headrace

#include "shard/remote/url.h"

#include <algorithm>

namespace headrace {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// Where the authority of `url` begins and where it ends.
std::pair<std::size_t, std::size_t> authority_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t first = scheme == std::string_view::npos ? 0 : scheme + 3;
  return {first, std::min(url.find_first_of("/?#", first), url.size())};
}

}  // namespace

std::optional<BucketUrl> parse_bucket_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const std::size_t first = scheme + 3;
  const std::size_t slash = std::min(url.find('/', first), url.size());
  if (slash == first) return std::nullopt;
  return BucketUrl{.scheme = std::string(url.substr(0, scheme)),
                   .bucket = std::string(url.substr(first, slash - first)),
                   .key = std::string(url.substr(std::min(slash + 1, url.size())))};
}

std::string_view host_of(std::string_view url) {
  const auto [first, end] = authority_of(url);
  const std::string_view authority = url.substr(first, end - first);
  const std::size_t at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

std::string_view path_of(std::string_view url) {
  const std::size_t first = authority_of(url).second;
  return url.substr(first, std::min(url.find_first_of("?#", first), url.size()) - first);
}

std::string_view query_of(std::string_view url) {
  const std::size_t mark = url.find('?');
  if (mark == std::string_view::npos) return {};
  return url.substr(mark + 1, std::min(url.find('#', mark), url.size()) - mark - 1);
}

std::string percent_encode(std::string_view text, bool keeps_slashes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || (keeps_slashes && c == '/')) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace headrace

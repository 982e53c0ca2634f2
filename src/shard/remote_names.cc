#include <algorithm>
#include <array>

#include "shard/remote.h"

namespace headrace {

bool is_remote(std::string_view path) {
  static constexpr std::array<std::string_view, 4> kSchemes = {"https://", "http://", "s3://", "gs://"};
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [path](std::string_view scheme) { return path.starts_with(scheme); });
}

std::string shown_path(const std::string& path) {
  if (!path.starts_with("http") || !is_remote(path)) return path;
  const std::size_t authority = path.find("://") + 3;
  const std::size_t slash = std::min(path.find_first_of("/?#", authority), path.size());
  const std::size_t at = path.rfind('@', slash);
  const std::size_t host = at != std::string::npos && at >= authority && at < slash ? at + 1 : authority;
  const std::size_t end = std::min(path.find_first_of("?#", slash), path.size());
  return path.substr(0, authority) + path.substr(host, end - host);
}

}  // namespace headrace

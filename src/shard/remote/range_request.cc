#include "shard/remote/range_request.h"

#include <charconv>

namespace headrace {
namespace {

constexpr std::uint64_t kMostSeconds = 3600;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void ask_range(ByteRange range, const std::string& version, HttpRequest* request) {
  request->headers.push_back({"range", "bytes=" + std::to_string(range.first) + "-" + std::to_string(range.end - 1)});
  // Only a strong entity tag may stand in If-Match; whatever else is there is compared when the answer comes.
  if (version.starts_with('"')) request->headers.push_back({"if-match", version});
}

std::string entity_version(const HttpResponse& response) {
  const std::string_view tag = response.header("etag");
  return std::string(tag.empty() ? response.header("last-modified") : tag);
}

std::optional<ContentRange> content_range(const HttpResponse& response) {
  std::string_view text = response.header("content-range");
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return std::nullopt;
  const auto first = number(text.substr(0, dash));
  const auto last = number(text.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ContentRange{.first = *first, .end = *last + 1, .size = number(text.substr(slash + 1))};
}

std::optional<std::uint64_t> unsatisfied_size(const HttpResponse& response) {
  const std::string_view text = response.header("content-range");
  return text.starts_with("bytes */") ? number(text.substr(8)) : std::nullopt;
}

std::optional<std::uint64_t> content_length(const HttpResponse& response) {
  return number(response.header("content-length"));
}

std::optional<std::chrono::milliseconds> retry_after(const HttpResponse& response) {
  const auto seconds = number(response.header("retry-after"));
  if (!seconds || *seconds > kMostSeconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace headrace

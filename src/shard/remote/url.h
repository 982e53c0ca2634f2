// Parts of URLs, and the escapes of their paths and queries. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// s3://BUCKET/KEY or gs://BUCKET/KEY. A key is taken as it is, without escapes.
struct BucketUrl {
  std::string scheme;
  std::string bucket;
  std::string key;
};
/// Nothing when there is no bucket.
std::optional<BucketUrl> parse_bucket_url(std::string_view url);

/// Host (and port) of an http or https URL.
std::string_view host_of(std::string_view url);
/// The path of an http or https URL, as it is sent.
std::string_view path_of(std::string_view url);
/// What stands behind its question mark.
std::string_view query_of(std::string_view url);

/// RFC 3986: all but letters, digits and -._~ becomes %XX; slashes stay when `keeps_slashes`.
std::string percent_encode(std::string_view text, bool keeps_slashes);

}  // namespace headrace

// Ranges of bytes and versions of entities as HTTP has them (RFC 9110). Pure functions.
#pragma once

#include <chrono>
#include <optional>

#include "shard/remote/object_store.h"

namespace headrace {

/// Adds the headers that ask for `range` of the entity with `version` (of entity_version()).
void ask_range(ByteRange range, const std::string& version, HttpRequest* request);

/// The entity tag, else the time of the last change, else nothing.
std::string entity_version(const HttpResponse& response);

/// What `Content-Range: bytes FIRST-LAST/SIZE` says.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> size;
};
std::optional<ContentRange> content_range(const HttpResponse& response);
/// SIZE of `Content-Range: bytes */SIZE`, which comes with 416.
std::optional<std::uint64_t> unsatisfied_size(const HttpResponse& response);
std::optional<std::uint64_t> content_length(const HttpResponse& response);
/// Of Retry-After, when it is a number of seconds.
std::optional<std::chrono::milliseconds> retry_after(const HttpResponse& response);

}  // namespace headrace
